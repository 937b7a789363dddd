"""`eviflow stage NAME`: one stage, the same code that DVC and the flows call."""

from typing import Annotated

import typer
from pydantic import BaseModel

from components.commands.session import Session
from components.commands.stages import STAGES, find_stage
from components.config.paths import Paths
from components.errors import UsageError

EXAMPLE = "Example:\n\n    eviflow stage world"
_NAMES = [spec.name for spec in STAGES]


def stage(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help=f"{', '.join(_NAMES[:-1])} or {_NAMES[-1]}.")],
    run_id: Annotated[
        str | None, typer.Option("--run-id", help="MLflow run to log to, for sft and evaluate; made when not given.")
    ] = None,
    show: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="With sft-rows: run nothing, and print row N (0-based), or the rows of episode N."
        ),
    ] = None,
) -> None:
    """Run one stage of the chain on what lies in the checkout."""
    from components.config.load import load_params
    from components.storage.lock import hold_checkout

    session: Session = context.obj
    spec, paths = find_stage(name), session.paths
    if show is not None:
        _show(spec.name, show, paths)
        return
    params = load_params(paths.params)
    with hold_checkout(paths.work):
        if spec.in_dvc:
            typer.echo(f"{spec.name}: {_in_short(spec.load()(params, paths))}", err=True)
            return
        from components.commands.tracked import run_tracked

        run_tracked(spec, params, paths, run_id)


def _show(stage: str, wanted: str, paths: Paths) -> None:
    """Print what a stage has made, where it can be shown."""
    if stage != "sft-rows":
        raise UsageError(f"--show prints what stage `sft-rows` has made; `{stage}` has nothing of that kind")
    from components.training.row_view import show_rows

    show_rows(paths, wanted)


def _in_short(result: BaseModel) -> str:
    """The numbers of a stage's result, without its tables; those are in the reports."""
    plain = result.model_dump(mode="json")
    numbers = {name: value for name, value in plain.items() if not isinstance(value, dict | list)}
    nested = {name: inner for table in plain.values() if isinstance(table, dict) for name, inner in table.items()}
    inner = {name: value for name, value in nested.items() if isinstance(value, int | float)}
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in (numbers | inner).items())
