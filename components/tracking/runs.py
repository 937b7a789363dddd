"""Runs of MLflow: one for a pipeline, under it one for each stage. Opened once, resumed after a kill."""

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import psutil
from mlflow.entities import Metric, Param, Run, RunStatus, RunTag
from mlflow.utils.mlflow_tags import MLFLOW_PARENT_RUN_ID, MLFLOW_RUN_NAME, MLFLOW_SOURCE_NAME, MLFLOW_USER
from mlflow.utils.time import get_current_time_millis

from components.tracking.store import Store

IDENTITY = "eviflow.identity"
STAGE = "eviflow.stage"
PROCESS = "eviflow.process"
PIPELINE = "full"
"""The stage tag of a parent run."""
PARAM_CHARS = 500
"""A longer value stands in the configuration artifact only."""
PAGE = 500
"""Runs that are asked for at once."""
BATCH = 100
"""MLflow's limit on parameters and on tags in one call."""


def open_run(
    store: Store,
    stage: str,
    identity: str,
    *,
    parent: str | None = None,
    name: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> str:
    """Go on with the run of this work, or begin one; returns its id, and leaves it RUNNING.

    A child is looked for by parent and stage: however often a pipeline is killed, it has one child a stage. A run
    without parent is looked for by stage and identity, among those that did not finish.
    """
    own = {STAGE: stage, IDENTITY: identity, PROCESS: _this_process(), **(tags or {})}
    run = _find_child(store, stage, parent) if parent else _find_unfinished(store, stage, identity)
    if run is None:
        named = {MLFLOW_RUN_NAME: name or stage, MLFLOW_SOURCE_NAME: "eviflow", MLFLOW_USER: os.environ.get("USER", "")}
        parents = {MLFLOW_PARENT_RUN_ID: parent} if parent else {}
        return str(store.client.create_run(store.experiment_id, tags=named | parents | own).info.run_id)
    store.client.update_run(run.info.run_id, status="RUNNING")
    set_tags(store, run.info.run_id, own)
    return str(run.info.run_id)


def close_run(store: Store, run_id: str, status: str = "FINISHED") -> None:
    """End a run as FINISHED, FAILED or KILLED."""
    store.client.set_terminated(run_id, status=status)


@contextmanager
def closing(store: Store, run_id: str) -> Iterator[None]:
    """End the run when the block ends: FINISHED, FAILED after an error, KILLED after a signal."""
    try:
        yield
    except Exception:
        close_run(store, run_id, "FAILED")
        raise
    except BaseException:
        close_run(store, run_id, "KILLED")
        raise
    close_run(store, run_id)


def sweep_orphans(store: Store) -> list[str]:
    """Close as KILLED every run whose process on this machine is dead, and return their ids."""
    running = search_runs(store, "attributes.status = 'RUNNING'")
    dead = [run.info.run_id for run in running if not _process_lives(run.data.tags.get(PROCESS))]
    for run_id in dead:
        close_run(store, run_id, "KILLED")
    return dead


def log_params(store: Store, run_id: str, params: Mapping[str, object]) -> None:
    """Log short parameters; one that is already there is left alone, an over-long one is left to the artifact."""
    known = store.client.get_run(run_id).data.params
    short = [
        Param(key, str(value)) for key, value in params.items() if key not in known and len(str(value)) <= PARAM_CHARS
    ]
    for start in range(0, len(short), BATCH):
        store.client.log_batch(run_id, params=short[start : start + BATCH])


def log_metrics(
    store: Store, run_id: str, metrics: Mapping[str, float], step: int = 0, model_id: str | None = None
) -> None:
    """Log numbers that belong to one step, linked to a logged model where one is given."""
    now = get_current_time_millis()
    points = [Metric(key, float(value), now, step, model_id=model_id) for key, value in metrics.items()]
    log_points(store, run_id, points)


def log_points(store: Store, run_id: str, points: Sequence[Metric]) -> None:
    """Log any number of points in batches of the size that MLflow takes."""
    for start in range(0, len(points), 1000):
        store.client.log_batch(run_id, metrics=points[start : start + 1000])


def set_tags(store: Store, run_id: str, tags: Mapping[str, str]) -> None:
    """Set tags, replacing older values."""
    store.client.log_batch(run_id, tags=[RunTag(key, value) for key, value in tags.items()])


def last_step(store: Store, run_id: str, key: str) -> int:
    """The highest step at which a metric was logged, -1 for none: a resumed run logs only what is new."""
    return max((point.step for point in store.client.get_metric_history(run_id, key)), default=-1)


def run_status(store: Store, run_id: str) -> str:
    """RUNNING, FINISHED, FAILED or KILLED."""
    return str(RunStatus.to_string(RunStatus.from_string(store.client.get_run(run_id).info.status)))


def find_child(store: Store, stage: str, parent: str) -> str | None:
    """Id of the run of a stage under a parent, whatever its status."""
    found = _find_child(store, stage, parent)
    return str(found.info.run_id) if found else None


def _find_child(store: Store, stage: str, parent: str) -> Run | None:
    found = search_runs(store, f"tags.`{MLFLOW_PARENT_RUN_ID}` = '{parent}' and tags.`{STAGE}` = '{stage}'")
    return found[0] if found else None


def _find_unfinished(store: Store, stage: str, identity: str) -> Run | None:
    query = f"tags.`{IDENTITY}` = '{identity}' and tags.`{STAGE}` = '{stage}' and attributes.status != 'FINISHED'"
    return next((run for run in search_runs(store, query) if MLFLOW_PARENT_RUN_ID not in run.data.tags), None)


def search_runs(store: Store, query: str) -> list[Run]:
    """Matching runs, newest first, however many there are."""
    found: list[Run] = []
    token: str | None = None
    while True:
        page = store.client.search_runs(
            [store.experiment_id],
            query,
            max_results=PAGE,
            order_by=["attributes.start_time DESC"],
            page_token=token,
        )
        found += page
        token = page.token
        if not token:
            return found


def _this_process() -> str:
    process = psutil.Process()
    return f"{socket.gethostname()}:{process.pid}:{process.create_time():.0f}"


def _process_lives(process: str | None) -> bool:
    """Whether the tagged process runs; one on another machine, or a run that is not ours, is left alone."""
    if process is None:
        return True
    host, pid, started = process.rsplit(":", 2)
    if host != socket.gethostname():
        return True
    try:
        return abs(psutil.Process(int(pid)).create_time() - float(started)) <= 1.0
    except psutil.Error:
        return False
