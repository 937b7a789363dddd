"""`eviflow investigate IMAGE`: one picture, one investigation, shown as it happens."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.commands.session import Session

if TYPE_CHECKING:
    from components.config.paths import Paths
    from components.config.schema import Params
    from components.records.episode import Episode
    from components.rollout.spending import Spending

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
    from components.rollout.spending import Spending

    session: Session = context.obj
    paths = session.paths
    params = load_params(paths.params)
    spending = Spending(params.prices)
    if as_json:
        episode = run(image, params, paths, policy, spending=spending)
        typer.echo(episode.model_dump_json(indent=2))
    else:
        printer = StepPrinter()
        episode = run(image, params, paths, policy, printer.step, spending)
        printer.report(episode)
    for name, text in (_kept(episode, params, paths) | {"cost": _cost(episode, params, spending)}).items():
        typer.echo(f"{name:<7} {text}", err=as_json)


def _cost(episode: "Episode", params: "Params", spending: "Spending") -> str:
    from components.rollout.costs import cost_table, in_words

    return in_words(cost_table([episode], spending.spent, params.prices))


def _kept(episode: "Episode", params: "Params", paths: "Paths") -> dict[str, str]:
    """Write the investigation's page, and its trace where the checkout has MLflow records; says where they are."""
    from components.config.settings import load_settings
    from components.evaluation.investigation_page import write_investigation
    from components.rollout.investigate import investigation_bank
    from components.tracking.store import find_store
    from components.tracking.traces import log_investigation

    bank = investigation_bank(paths)
    page = paths.investigations / f"{episode.case.case_id}-{episode.policy}.html"
    kept = {"page": str(write_investigation(page, episode, bank))}
    store = find_store(paths, params.tracking.experiment, load_settings())
    return kept | ({"MLflow": log_investigation(store, episode, bank)} if store else {})
