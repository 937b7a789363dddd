"""The command line, `eviflow` or `python -m components.cli`.

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 refused before starting, 4 done in part: some rows were
refused, or a budget is spent.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from components.commands import data, doctor, investigate, run, score, stage, world
from components.commands.session import Session, guarded

app = typer.Typer(
    name="eviflow",
    help="Train and judge agents that gather evidence before they commit.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(epilog="Example:\n\n    eviflow run")
def options(
    context: typer.Context,
    root: Annotated[Path, typer.Option(help="The checkout to work in.")] = Path(),
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    """Train and judge agents that gather evidence before they commit."""
    session: Session = context.obj
    session.root, session.debug = root, debug


app.command("run", epilog=run.EXAMPLE)(run.run)
app.command("stage", epilog=stage.EXAMPLE)(stage.stage)
app.command("investigate", epilog=investigate.EXAMPLE)(investigate.investigate)
app.command("doctor", epilog=doctor.EXAMPLE)(doctor.doctor)
app.add_typer(data.app, name="data")
app.add_typer(score.app, name="score")
app.add_typer(world.app, name="world")


def main() -> None:
    """Run the command line and exit."""
    session = Session()
    sys.exit(guarded(session, lambda: app(obj=session)))


if __name__ == "__main__":
    main()
