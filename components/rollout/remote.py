"""A rollout on a Ray cluster, seen from the process that wants it: ask, show how far it is, take what there is.

The workers are started by a flow, which is a program of its own since components know nothing of Prefect.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

from components.config.flow_environment import flow_environment
from components.config.paths import Paths
from components.config.settings import load_settings
from components.errors import EviflowError, PreflightError
from components.progress import Progress
from components.rollout.budget import Budget
from components.rollout.drain import Drain
from components.rollout.sharing import RolloutRequest, write_request
from components.rollout.spending import LEDGER, Spending, worker_ledgers
from components.rollout.store import Finished, Layout, RolloutStore
from components.storage.identity import source_root
from components.storage.process import GRACE_S, run_group

LOOK_S = 2.0
"""Between looks at how far the workers are."""


def roll_out_remotely(request: RolloutRequest, folder: Path) -> tuple[Finished, Spending]:
    """Let workers run every job of `request`; returns the episodes in the order of the jobs, and what they took.

    Args:
        request: what is to be done; of a rollout that was begun before, the same.
        folder: of the rollout's unfinished work, on a disk that the workers see under the same name.

    Raises:
        BudgetReached: the budget is spent, and episodes are left.
        Drained: the rollout was asked to end, and episodes are left.
        PreflightError: Ray is not installed.
        EviflowError: the workers have ended before they were done.

    """
    if find_spec("prefect_ray") is None:
        raise PreflightError("rollout.executor is `ray`, which is not installed; run `pip install 'eviflow[ray]'`")
    rollout = request.params.rollout
    RolloutStore(folder, Layout(shards=rollout.shards, attempts=rollout.attempts)).begin()
    ids = [job.as_job().episode_id(request.policy.name) for job in request.jobs]
    write_request(folder, request)
    # Of this process alone: workers of a run that was killed, which are still ending, do not take it for theirs.
    flag = folder / f"drain-{os.getpid()}"
    with _asked_by_file(flag) as drain, _shown(request.title, folder, ids) as left:
        if left():
            argv = [sys.executable, "-m", "flows.rollout_flow", str(folder), str(flag)]
            run_group(argv, source_root(), _environment(request), grace_s=GRACE_S + rollout.drain_s)
    store, ledgers = RolloutStore(folder), worker_ledgers(folder)
    spending = Spending(request.params.prices, folder / LEDGER, request.before, beside=ledgers)
    if left():
        told = (len(ids) - left(), len(ids))
        raise _why(request, Budget(request.stage, request.limit, spending), drain, *told)
    return Finished(store, ids), spending


def _why(request: RolloutRequest, budget: Budget, drain: Drain, finished: int, total: int) -> EviflowError:
    """Why there are episodes left."""
    if drain.asked:
        return drain.error(finished, total)
    if budget.reached:
        return budget.error(finished, total)
    return EviflowError(
        f"{request.title}: the workers have ended with {finished} of {total} episodes finished and kept, see above; "
        "mend it and run the same command again to go on"
    )


def _environment(request: RolloutRequest) -> dict[str, str]:
    """Of the flow's process, whose workers find this code where it does."""
    code = os.pathsep.join(filter(None, [str(source_root()), os.environ.get("PYTHONPATH")]))
    quiet = flow_environment(Paths(Path(request.root)), load_settings())
    return os.environ | quiet | {"PYTHONPATH": code, "RAY_USAGE_STATS_ENABLED": "0"}


@contextmanager
def _asked_by_file(flag: Path) -> Iterator[Drain]:
    """Let SIGTERM put the file there that asks the workers to end; signals come to the main thread alone."""
    flag.unlink(missing_ok=True)
    drain = Drain()
    if threading.current_thread() is not threading.main_thread():
        yield drain
        return
    before = signal.getsignal(signal.SIGTERM)

    def asked(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, before)
        drain.asked = True
        flag.touch()

    signal.signal(signal.SIGTERM, asked)
    try:
        yield drain
    finally:
        signal.signal(signal.SIGTERM, before)
        flag.unlink(missing_ok=True)


@contextmanager
def _shown(title: str, folder: Path, ids: Sequence[str]) -> Iterator[Callable[[], int]]:
    """Show how far the workers are while the block runs; yields what counts the episodes that are left."""
    ended = threading.Event()

    def left() -> int:
        store = RolloutStore(folder)
        return sum(episode_id not in store for episode_id in ids)

    def follow(progress: Progress) -> None:
        while not ended.wait(LOOK_S):
            progress.reach(len(ids) - left())

    with Progress(title, len(ids), "episodes") as progress:
        progress.resume(len(ids) - left())
        follower = threading.Thread(target=follow, args=(progress,), daemon=True)
        follower.start()
        try:
            yield left
        finally:
            ended.set()
            follower.join()
            progress.reach(len(ids) - left())
