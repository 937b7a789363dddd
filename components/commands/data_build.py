"""`eviflow data build`: world, candidates and EviLens-F, of the checkout or of any size in a folder of their own."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.commands.session import Session
from components.config.paths import Paths

if TYPE_CHECKING:
    from components.storage.cost import Cost

EXAMPLE = "Example:\n\n    eviflow data build --cases 1000 --into builds/thousand"


def build(
    context: typer.Context,
    cases: Annotated[
        int | None, typer.Option(help="Candidates, in a folder of their own; as params.yaml says when not given.")
    ] = None,
    into: Annotated[
        Path | None, typer.Option(help="That folder; builds/CASES in the checkout when not given.", metavar="FOLDER")
    ] = None,
) -> None:
    """Build the closed world and EviLens-F, or go on where a killed build stopped; then say where everything is."""
    from components.commands.building import build_folder, claim_folder, sized
    from components.config.load import load_params

    session: Session = context.obj
    own = session.paths
    params = load_params(own.params)
    if cases is None and into is None:
        paths, costs = own, {"world, benchmark and panel": _reproduce(own)}
    else:
        wanted = params if cases is None else sized(params, cases)
        paths = claim_folder(into or own.root / f"builds/{cases}", wanted)
        costs = build_folder(wanted, paths, lambda line: typer.echo(line, err=True))
    _show(paths, costs)


def _reproduce(paths: Paths) -> "Cost":
    """Let DVC bring the checkout's own data up to date, as `eviflow run` does."""
    from components.storage.cost import CostWatch
    from components.storage.dvc import repro
    from components.storage.lock import TOKEN_VARIABLE, hold_checkout

    with hold_checkout(paths.work, "eviflow data build") as holder, CostWatch() as watch:
        repro(paths.root, "panel", env={TOKEN_VARIABLE: holder.token})
    return watch.cost


def _show(paths: Paths, costs: "Mapping[str, Cost]") -> None:
    """What was released, what it cost and where it lies."""
    from components.commands.data_card import show_funnel
    from components.release.card import write_card
    from components.release.stage import read_report

    card = write_card(paths)
    show_funnel(read_report(paths).funnel)
    for name, cost in costs.items():
        memory = f"at most {cost.peak_bytes / 1e9:.2f} GB"
        typer.echo(f"{name}: {cost.wall_s:.0f} s, {cost.cpu_s:.0f} CPU-seconds, {memory} for all processes together")
    if not costs:
        typer.echo("everything was finished before")
    places = {
        "EviLens-F": paths.benchmark,
        "gold": paths.gold,
        "metadata": paths.release,
        "candidates": paths.candidates,
        "web": paths.web,
        "card": card,
    }
    for name, place in places.items():
        typer.echo(f"{name:<12}{place}")
