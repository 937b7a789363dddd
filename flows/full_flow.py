"""The whole chain: world, candidates, EviLens-F, teacher episodes, re-rolls, policy, training rows, SFT, evaluation.

One MLflow parent run holds it, with a child a stage. A chain that was killed goes on in the same run.

    eviflow run
"""

from pathlib import Path

from prefect import flow
from prefect.artifacts import create_table_artifact

from components.commands.finished import pipeline_identity
from components.config.flatten import flat_params
from components.config.load import load_params
from components.config.paths import Paths
from components.config.schema import Params
from components.config.settings import load_settings
from components.tracking.runs import PIPELINE, closing, log_metrics, log_params, open_run, set_tags, sweep_orphans
from components.tracking.store import Store, open_store
from components.tracking.tags import identity_tags
from flows.benchmark_flow import benchmark
from flows.console import say
from flows.contract import HERE, ChainOutcome, StageOutcome, StageRequest
from flows.dead_runs import close_dead_flow_runs
from flows.episodes_flow import episodes
from flows.evaluation_flow import evaluation
from flows.leftover import remember_server
from flows.panel_flow import panel
from flows.policy_flow import policy
from flows.reroll_flow import reroll
from flows.review_flow import review
from flows.sft_flow import sft
from flows.sft_rows_flow import sft_rows
from flows.tasks import link_prefect
from flows.world_flow import world

STAGES = (world, benchmark, panel, episodes, review, reroll, policy, sft_rows, sft, evaluation)


@flow(name="full", flow_run_name="full")
def full(request: StageRequest = HERE) -> ChainOutcome:
    """Bring every stage up to date, in order."""
    paths = Paths(Path(request.root).resolve())
    params = load_params(paths.params)
    settings = load_settings()
    if settings.prefect_api_url is None:
        remember_server(paths)
        close_dead_flow_runs()
    store = open_store(paths, params.tracking.experiment, settings)
    run_id = _open_parent(store, params, paths)
    with closing(store, run_id):
        child = StageRequest(root=str(paths.root), parent_run_id=run_id)
        outcomes = [stage(child) for stage in STAGES]
        for outcome in outcomes:
            log_metrics(store, run_id, outcome.metrics)
        set_tags(store, run_id, identity_tags(params, paths))
        _table(outcomes)
    return ChainOutcome(run_id=run_id, run_url=store.run_url(run_id), stages=outcomes)


def _open_parent(store: Store, params: Params, paths: Paths) -> str:
    """The run of this chain, resumed if it was killed; runs of other dead processes are closed on the way."""
    for orphan in sweep_orphans(store):
        say(f"the MLflow run {orphan} of a killed process is closed")
    identity = pipeline_identity(params, paths)
    run_id = open_run(store, PIPELINE, identity, name=f"full-{identity[:8]}")
    set_tags(store, run_id, identity_tags(params, paths))
    log_params(store, run_id, flat_params(params, Params.model_fields))
    store.client.log_dict(run_id, params.model_dump(mode="json"), "params.json")
    link_prefect(store, run_id)
    return run_id


def _table(outcomes: list[StageOutcome]) -> None:
    rows = [
        {"stage": item.stage, "seconds": round(item.seconds, 1), "worked": item.worked, "MLflow run": item.run_id}
        for item in outcomes
    ]
    create_table_artifact(rows, key="stages", description="What each stage took")
