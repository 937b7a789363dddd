"""`eviflow data`: what is done with data beside the stages that make them."""

import typer

from components.commands import data_review

app = typer.Typer(help="Review the data by people.", no_args_is_help=True)

app.command("review", epilog=data_review.EXAMPLE)(data_review.review)
