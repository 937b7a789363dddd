"""`eviflow data`: what becomes of data outside the chain of stages."""

import typer

from components.commands import data_transfer

app = typer.Typer(help="Import and export cases.", no_args_is_help=True)

app.command("import", epilog=data_transfer.IMPORT_EXAMPLE)(data_transfer.import_data)
app.command("export", epilog=data_transfer.EXPORT_EXAMPLE)(data_transfer.export_data)
