"""`eviflow data card`: the data card of the release, and the funnel on the terminal."""

from typing import TYPE_CHECKING, Annotated

import typer

from components.commands.session import Session

if TYPE_CHECKING:
    from components.records.funnel import Funnel

EXAMPLE = "Example:\n\n    eviflow data card --open"


def card(
    context: typer.Context,
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Write the data card of the release in this checkout, print how it came about, and say where the card is."""
    from components.release.card import write_card
    from components.release.stage import read_report

    session: Session = context.obj
    path, report = write_card(session.paths), read_report(session.paths)
    show_funnel(report.funnel)
    typer.echo(f"reviewed by {'programs, standing in for people' if report.decided_by == 'scripted' else 'people'}")
    typer.echo(f"written to {path}")
    if show:
        typer.launch(path.as_uri())


def show_funnel(funnel: "Funnel") -> None:
    """Print the table from planned to released."""
    typer.echo(f"{'':<34}" + "".join(f"{name:>8}" for name in funnel.columns))
    for row in funnel.rows():
        title = f"  {row.title}" if row.detail else row.title
        typer.echo(f"{title:<34}" + "".join(f"{count:>8}" for count in row.counts))
