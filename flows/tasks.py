"""The tasks behind stage flows: one lets DVC bring data up to date, one runs a stage as a process, one shows the data.

Tasks are coarse, hand over paths, ids and numbers only, cache nothing and retry nothing: DVC and the stages' own
manifests know what is finished, and a stage that was killed goes on where it stopped.
"""

import sys
import time
from pathlib import Path

from prefect import task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.context import FlowRunContext

from components.commands.manifest import Manifest, current_manifest, stage_identity
from components.commands.stages import StageSpec, find_stage
from components.config.load import load_params
from components.config.paths import Paths
from components.config.schema import Params
from components.config.settings import load_settings
from components.errors import stage_failure
from components.evaluation.review import read_funnel
from components.release.card import write_card
from components.release.stage import read_report
from components.storage.dvc import environment, outs, repro
from components.storage.process import GRACE_S, run_group
from components.tracking.costs import log_costs, reroll_costs, teacher_costs
from components.tracking.datasets import log_datasets
from components.tracking.funnels import log_funnel
from components.tracking.reports import report_metrics
from components.tracking.runs import closing, find_child, log_metrics, open_run, set_tags
from components.tracking.store import Store, open_store
from components.tracking.tags import PREFECT_RUN, PREFECT_URL, REUSED_FROM, identity_tags
from flows.console import say
from flows.contract import StageOutcome, StageRequest
from flows.progress import shown_progress

COSTS = {"episodes": teacher_costs, "reroll": reroll_costs}
"""The data stages that cost something, by what tells how much."""
PREFECT_UI = "http://127.0.0.1:4200"
"""Where `make ui` serves the checkout's own Prefect database."""


@task(name="build-data", task_run_name="{stage}", cache_policy=NO_CACHE)
def build_data(stage: str, request: StageRequest) -> StageOutcome:
    """Bring one data stage up to date with DVC, and log what it made."""
    spec, params, paths, store = _prepare(stage, request)
    started, before = time.monotonic(), outs(paths.root, stage)
    say(f"{stage}: {spec.summary}")
    run_id = open_run(store, stage, stage_identity(spec, params, paths), parent=request.parent_run_id)
    with closing(store, run_id):
        _link(store, run_id, params, paths)
        with shown_progress(stage, paths) as told:
            repro(paths.root, stage, single=request.parent_run_id is not None, env=told, grace_s=_grace_s(params))
        made = [out for out in outs(paths.root, stage) if out.path in spec.outputs]
        log_datasets(store, run_id, [out for out in outs(paths.root) if out.path in spec.inputs], "read", {})
        log_datasets(store, run_id, made, "made", {})
        metrics = report_metrics(paths, stage, made)
        log_metrics(store, run_id, metrics)
        if stage in COSTS:
            metrics |= log_costs(store, run_id, COSTS[stage](paths, params.prices), stage)
        set_tags(store, run_id, identity_tags(params, paths))
    outcome = _outcome(stage, run_id, started, outs(paths.root, stage) != before, metrics)
    say(f"{stage}: done in {outcome.seconds:.1f} s{'' if outcome.worked else ', data unchanged'}")
    return outcome


@task(name="run-process", task_run_name="{stage}", cache_policy=NO_CACHE)
def run_process(stage: str, request: StageRequest) -> StageOutcome:
    """Run training or evaluation as one process in its own group, unless its manifest says that it is finished."""
    spec, params, paths, store = _prepare(stage, request)
    started = time.monotonic()
    manifest = current_manifest(spec, params, paths)
    if manifest is not None:
        run_id = _reuse(store, spec, manifest, request, params, paths)
        say(f"{stage}: up to date, as made in {manifest.seconds:.0f} s")
        return _outcome(stage, run_id, started, False, manifest.metrics)
    say(f"{stage}: {spec.summary}")
    run_id = open_run(store, stage, stage_identity(spec, params, paths), parent=request.parent_run_id)
    with closing(store, run_id):
        _link(store, run_id, params, paths)
        manifest = _launch(spec, run_id, params, paths)
    outcome = _outcome(stage, run_id, started, True, manifest.metrics)
    say(f"{stage}: done in {outcome.seconds:.1f} s")
    return outcome


@task(name="publish-card", task_run_name="data-card", cache_policy=NO_CACHE)
def publish_card(request: StageRequest, run_id: str) -> str:
    """Write the release's data card, give it to the chain's MLflow run, and link it; returns where it is.

    Args:
        request: which checkout; its parent run gets the card, where there is one.
        run_id: the run of stage `panel`, which gets it otherwise.

    """
    paths = Paths(Path(request.root).resolve())
    store = open_store(paths, load_params(paths.params).tracking.experiment, load_settings())
    path, owner = write_card(paths), request.parent_run_id or run_id
    store.client.log_artifact(owner, str(path))
    link = f"{store.run_url(owner)}/artifacts/{path.name}"
    text = f"what was released, how it came about and what it is for; also {path}"
    create_link_artifact(link, link_text="Data card", key="data-card", description=text)
    create_markdown_artifact(read_report(paths).funnel.markdown(), key="release-funnel", description="Plan to release")
    return str(path)


@task(name="publish-funnel", task_run_name="admission-funnel", cache_policy=NO_CACHE)
def publish_funnel(stage: str, request: StageRequest, run_id: str) -> None:
    """Show how many teacher episodes each gate has rejected, as a table in Prefect and of the stage's MLflow run."""
    paths = Paths(Path(request.root).resolve())
    store = open_store(paths, load_params(paths.params).tracking.experiment, load_settings())
    funnel = read_funnel(paths.metrics / f"{stage}.json")
    log_funnel(store, run_id, funnel)
    create_table_artifact(funnel.table(), key=f"{stage}-funnel", description="Collected to admitted teacher episodes")


def link_prefect(store: Store, run_id: str) -> None:
    """Tag the MLflow run with the Prefect run, and give the Prefect run a link to the MLflow run."""
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    key = str(context.flow_run.id)
    api = load_settings().prefect_api_url
    base = api.removesuffix("/api") if api else PREFECT_UI
    set_tags(store, run_id, {PREFECT_RUN: key, PREFECT_URL: f"{base}/runs/flow-run/{key}"})
    text = "the MLflow run that holds numbers, models and traces"
    create_link_artifact(store.run_url(run_id), link_text="MLflow run", key="mlflow-run", description=text)


def _prepare(stage: str, request: StageRequest) -> tuple[StageSpec, Params, Paths, Store]:
    paths = Paths(Path(request.root).resolve())
    params = load_params(paths.params)
    return find_stage(stage), params, paths, open_store(paths, params.tracking.experiment, load_settings())


def _grace_s(params: Params) -> float:
    """How long a stage may take to end: its investigations are brought to their end first, and what it has started."""
    return 4 * GRACE_S + params.rollout.drain_s


def _link(store: Store, run_id: str, params: Params, paths: Paths) -> None:
    set_tags(store, run_id, identity_tags(params, paths))
    link_prefect(store, run_id)


def _launch(spec: StageSpec, run_id: str, params: Params, paths: Paths) -> Manifest:
    argv = [sys.executable, "-m", "components.cli", "--root", str(paths.root), "stage", spec.name, "--run-id", run_id]
    own = {name: value for name, value in environment().items() if name != "MLFLOW_RUN_ID"}
    with shown_progress(spec.name, paths) as told:
        finished = run_group(argv, paths.root, own | told, grace_s=_grace_s(params))
    manifest = current_manifest(spec, params, paths) if finished.returncode == 0 else None
    if manifest is None:
        raise stage_failure(spec.name, finished.returncode)
    return manifest


def _reuse(
    store: Store, spec: StageSpec, manifest: Manifest, request: StageRequest, params: Params, paths: Paths
) -> str:
    """The run of work that was done before: its own, or in another pipeline a short one that points to it."""
    parent = request.parent_run_id
    if parent is None or find_child(store, spec.name, parent) == manifest.run_id:
        return manifest.run_id
    run_id = open_run(store, spec.name, manifest.identity, parent=parent)
    with closing(store, run_id):
        _link(store, run_id, params, paths)
        set_tags(store, run_id, {REUSED_FROM: manifest.run_id})
        log_metrics(store, run_id, manifest.metrics)
    return run_id


def _outcome(stage: str, run_id: str, started: float, worked: bool, metrics: dict[str, float]) -> StageOutcome:
    seconds = time.monotonic() - started
    return StageOutcome(stage=stage, run_id=run_id, seconds=seconds, worked=worked, metrics=metrics)
