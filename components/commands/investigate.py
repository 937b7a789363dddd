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

    eviflow investigate test-00000 --policy scripted --without image_retrieval

    eviflow investigate photo.png --policy openai:http://127.0.0.1:8000/v1#Qwen/Qwen3.5-9B --transport live"""


def investigate(
    context: typer.Context,
    image: Annotated[Path, typer.Argument(help="A PNG, JPEG or WEBP picture, or the id of a benchmark case.")],
    policy: Annotated[
        str | None,
        typer.Option(help="scripted, sft, base or openai:URL#MODEL; the newest trained policy when not given."),
    ] = None,
    transport: Annotated[
        str | None,
        typer.Option(help="Who answers the tools: world, live, record or replay; by default as in params.yaml."),
    ] = None,
    tools: Annotated[str | None, typer.Option(help="Only these tools, with commas between.")] = None,
    without: Annotated[
        str | None,
        typer.Option(help="Not these families: web_search, image_retrieval, evidence_inspection, visual."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole episode as JSON, and nothing else.")] = False,
) -> None:
    """Investigate a picture, step by step: supported or refuted, and on what evidence."""
    from components.config.load import load_params
    from components.progress import activity
    from components.rollout.choices import choose_tools, with_transport
    from components.rollout.investigate import PolicyFailed, Watch
    from components.rollout.investigate import investigate as run
    from components.rollout.show import StepPrinter
    from components.rollout.spending import Spending

    session: Session = context.obj
    paths = session.paths
    params = with_transport(load_params(paths.params), transport)
    choice, spending = choose_tools(tools, without, params.tools.tool_set), Spending(params.prices)
    printer = StepPrinter()
    watch = Watch(doing=activity) if as_json else Watch(printer.step, activity)
    failed: PolicyFailed | None = None
    try:
        episode = run(image, params, paths, policy, watch, choice, spending)
    except PolicyFailed as error:  # what there was is shown all the same
        if not error.episode.steps:
            raise
        episode, failed = error.episode, error
    if as_json:
        typer.echo(episode.model_dump_json(indent=2))
    else:
        printer.report(episode)
    for name, text in (_kept(episode, params, paths) | {"cost": _cost(episode, params, spending)}).items():
        typer.echo(f"{name:<7} {text}", err=as_json)
    if failed is not None:
        raise failed


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
