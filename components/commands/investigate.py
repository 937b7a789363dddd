"""`eviflow investigate IMAGE`: one picture, one investigation, shown as it happens."""

from pathlib import Path
from typing import Annotated

import typer

from components.commands.session import Session

EXAMPLE = """Example:

    eviflow investigate photo.png

    eviflow investigate test-00000 --policy scripted"""


def investigate(
    context: typer.Context,
    image: Annotated[Path, typer.Argument(help="A PNG, JPEG or WEBP picture, or the id of a benchmark case.")],
    policy: Annotated[
        str | None, typer.Option(help="scripted, sft or base; the newest trained policy when not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole episode as JSON, and nothing else.")] = False,
) -> None:
    """Investigate a picture, step by step: supported or refuted, and on what evidence."""
    from components.config.load import load_params
    from components.rollout.investigate import investigate as run
    from components.rollout.show import StepPrinter

    session: Session = context.obj
    paths = session.paths
    params = load_params(paths.params)
    if as_json:
        typer.echo(run(image, params, paths, policy).model_dump_json(indent=2))
        return
    printer = StepPrinter()
    printer.report(run(image, params, paths, policy, printer.step))
