"""A rollout where the settings say that it runs: in this process, or on the workers of a Ray cluster."""

from collections.abc import Callable
from pathlib import Path

from components.config.paths import Paths
from components.records.conversation import Policy
from components.rollout.policies import check_servers
from components.rollout.remote import roll_out_remotely
from components.rollout.sharing import RolloutRequest, run_jobs
from components.rollout.spending import Spending, worker_ledgers
from components.rollout.store import Finished, Layout, RolloutStore


def execute(
    request: RolloutRequest, folder: Path, spending: Spending, policy: Callable[[], Policy], source: str = ""
) -> tuple[Finished, Spending]:
    """Run every job of `request` that `folder` does not hold yet; returns all episodes, and what they took.

    Where nothing is left, nobody is asked for anything.

    Args:
        request: what is to be done.
        folder: of the rollout's unfinished work.
        spending: the rollout's account in this process.
        policy: makes the policy in this process; workers make their own.
        source: the policy's, if a server has it: it is tried out first.

    Raises:
        BudgetReached: the budget is spent, and episodes are left.
        Drained: the rollout was asked to end, and episodes are left.
        PreflightError: a model's server is not there, or does not do what it is going to be asked.
        EviflowError: the policy fails on every conversation, or the workers have ended before they were done.

    """
    rollout, paths = request.params.rollout, Paths(Path(request.root))
    jobs = [job.as_job() for job in request.jobs]
    ids = [job.episode_id(request.policy.name) for job in jobs]
    store = RolloutStore(folder, Layout(shards=rollout.shards, attempts=rollout.attempts))
    remote = rollout.executor == "ray"
    # Workers may have begun what this process goes on with.
    spending.look_at(worker_ledgers(folder))
    if any(episode_id not in store for episode_id in ids):
        check_servers(source, request.params, paths, folder, spending)
        if not remote:
            return run_jobs(request, jobs, folder, policy(), spending), spending
    return roll_out_remotely(request, folder) if remote else (Finished(store, ids), spending)
