"""`eviflow doctor`: which services work, what the question cost, and what is missing."""

from typing import TYPE_CHECKING, Annotated

import typer

from components.commands.session import Session

if TYPE_CHECKING:
    from components.tools.doctor import Examination

EXAMPLE = """Example:

    eviflow doctor

    eviflow doctor --json"""


def doctor(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")] = False,
) -> None:
    """Call each service of the agent's tools once, and say what works; exit code 1 where something does not.

    A model on a server that a stage is to ask (`episodes.policy`, `evaluation.served`) is tried out as the stage does.

    Keys come from the environment, or from the file `.env` of the checkout; `.env.example` lists them.
    """
    from components.config.load import load_params
    from components.rollout.server_calls import server_calls
    from components.tools.doctor import examine

    session: Session = context.obj
    paths = session.paths
    params = load_params(paths.params)
    found = examine(params, paths, server_calls(params, paths))
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        _show(found)
    if not found.well:
        raise typer.Exit(1)


def _show(found: "Examination") -> None:
    typer.echo(f"{'service':<22}{'state':<9}{'seconds':>8}{'USD':>10}  ")
    for probe in found.probes:
        asked = probe.seconds > 0
        seconds, cost = (f"{probe.seconds:.2f}", f"{probe.cost_usd:.5f}") if asked else ("", "")
        typer.echo(f"{probe.service:<22}{probe.state:<9}{seconds:>8}{cost:>10}  {probe.detail}")
    typer.echo(f"{found.cost_usd:.5f} USD in all, at list prices of {found.prices_as_of} (`prices` in params.yaml)")
    asks = found.transport in ("live", "record")
    typer.echo(f"tools.transport is {found.transport}: the agent {'asks' if asks else 'asks none of'} these services")
