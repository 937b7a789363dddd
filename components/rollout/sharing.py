"""A rollout that several processes share: a file says what is to be done, and each process takes shard after shard.

Whoever starts the rollout writes the request into its folder; workers read it, wherever they run, as long as they see
the same disk. Nothing else passes between them: what is finished stands in the shards, and a worker that dies leaves
its shard to the next one, which goes on where it stopped.
"""

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Literal

from components.config.paths import Paths
from components.config.schema import BudgetLimit, Params
from components.errors import BudgetReached, Drained
from components.records.base import Record
from components.records.case import Case
from components.records.conversation import Policy
from components.records.image_bank import ImageBank
from components.records.usage import Spent
from components.rollout.budget import Budget
from components.rollout.drain import Drain
from components.rollout.run import roll_out
from components.rollout.slot import Job
from components.rollout.spending import LEDGER, Spending
from components.rollout.store import Finished, RolloutStore
from components.storage.atomic import write_json

REQUEST = "request.json"
"""In a shared rollout's folder: what is to be done."""


class PolicySpec(Record):
    """How a worker makes the policy."""

    maker: str
    """`module:function`, which is given settings, checkout, picture bank and `arguments`."""
    arguments: dict[str, str]
    name: str
    """What episodes call it."""

    @classmethod
    def of(cls, maker: Callable[..., Policy], name: str, **arguments: str) -> "PolicySpec":
        """The policy that a function of a module makes."""
        return cls(maker=f"{maker.__module__}:{maker.__qualname__}", arguments=arguments, name=name)

    def make(self, params: Params, paths: Paths, bank: ImageBank) -> Policy:
        """The policy."""
        module, _, function = self.maker.partition(":")
        policy: Policy = getattr(import_module(module), function)(params, paths, bank, **self.arguments)
        return policy


class SharedJob(Record):
    """A `Job` as it is written down."""

    case: Case
    seed: int
    direct: bool = False

    @classmethod
    def of(cls, job: Job) -> "SharedJob":
        """The same, written down."""
        return cls(case=job.case, seed=job.seed, direct=job.direct)

    def as_job(self) -> Job:
        """The job itself."""
        return Job(self.case, self.seed, self.direct)


class RolloutRequest(Record):
    """Everything that a worker has to know."""

    root: str
    """The checkout."""
    params: Params
    policy: PolicySpec
    jobs: tuple[SharedJob, ...]
    banks: tuple[str, ...]
    """Folders of pictures, besides the rollout's own."""
    concurrency: int
    """Investigations in flight at once in one worker."""
    title: str
    stage: str
    """As the budget names it."""
    limit: BudgetLimit
    before: Spent = Spent()
    """By other rollouts under the same budget."""

    def bank(self, folder: Path) -> ImageBank:
        """All pictures, those of the rollout's own `folder` first."""
        return ImageBank(folder, also=[Path(other) for other in self.banks])


class ShardResult(Record):
    """How a worker has left a shard."""

    shard: int
    worker: str
    """Its host and process."""
    ended: Literal["done", "budget", "drained"]
    episodes: int
    """Of the shard that are finished."""


def write_request(folder: Path, request: RolloutRequest) -> Path:
    """Put the request where workers find it."""
    return write_json(folder / REQUEST, request)


def read_request(folder: Path) -> RolloutRequest:
    """The request of a shared rollout."""
    return RolloutRequest.model_validate_json((folder / REQUEST).read_bytes())


def run_jobs(
    request: RolloutRequest,
    jobs: Sequence[Job],
    folder: Path,
    policy: Policy,
    spending: Spending,
    drain: Drain | None = None,
) -> Finished:
    """Run some or all of the jobs of `request` in this process; errors as of `run_episodes`."""
    return roll_out(
        request.params,
        Paths(Path(request.root)),
        jobs,
        policy,
        bank=request.bank(folder),
        folder=folder,
        concurrency=request.concurrency,
        title=request.title,
        budget=Budget(request.stage, request.limit, spending),
        drain=drain,
    )


def run_shard(folder: Path, shard: int, flag: Path) -> ShardResult:
    """Run what is left of one shard, with services and a policy of its own.

    Args:
        folder: of the rollout's unfinished work.
        shard: its number.
        flag: a file that asks for the end by being there.

    Raises:
        PreflightError: another process writes the shard.
        EviflowError: the policy fails on every conversation.

    """
    request = read_request(folder)
    params, paths, store = request.params, Paths(Path(request.root)), RolloutStore(folder)
    jobs = [job.as_job() for job in request.jobs]
    own = [job for job in jobs if store.shard_of(job.episode_id(request.policy.name)) == shard]
    others = [store.shard_folder(number) / LEDGER for number in range(store.layout.shards) if number != shard]
    spending = Spending(
        params.prices, store.shard_folder(shard) / LEDGER, request.before, beside=[folder / LEDGER, *others]
    )
    ended: Literal["done", "budget", "drained"] = "done"
    try:
        policy = request.policy.make(params, paths, request.bank(folder))
        run_jobs(request, own, folder, policy, spending, Drain(params.rollout.drain_s, flag))
    except BudgetReached:
        ended = "budget"
    except Drained:
        ended = "drained"
    finished = RolloutStore(folder).shards[shard]
    return ShardResult(shard=shard, worker=f"{os.uname().nodename}:{os.getpid()}", ended=ended, episodes=len(finished))
