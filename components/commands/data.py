"""`eviflow data`: what is done with data beside the stages that make them."""

import typer

from components.commands import (
    data_build,
    data_card,
    data_case,
    data_migrate,
    data_review,
    data_transfer,
    data_versions,
)

app = typer.Typer(help="Build, import, export, show, review, verify and roll back the data.", no_args_is_help=True)

app.command("build", epilog=data_build.EXAMPLE)(data_build.build)
app.command("import", epilog=data_transfer.IMPORT_EXAMPLE)(data_transfer.import_data)
app.command("export", epilog=data_transfer.EXPORT_EXAMPLE)(data_transfer.export_data)
app.command("show", epilog=data_case.EXAMPLE)(data_case.show)
app.command("review", epilog=data_review.EXAMPLE)(data_review.review)
app.command("card", epilog=data_card.EXAMPLE)(data_card.card)
app.command("migrate", epilog=data_migrate.EXAMPLE)(data_migrate.migrate)
app.command("log", epilog=data_versions.LOG_EXAMPLE)(data_versions.log)
app.command("verify", epilog=data_versions.VERIFY_EXAMPLE)(data_versions.verify)
app.command("rollback", epilog=data_versions.ROLLBACK_EXAMPLE)(data_versions.rollback)
