"""Many investigations in lockstep: the policy answers all that wait in one batch, then all advance together.

A finished episode is on disk before its slot is taken by the next one, so a killed run goes on where it stopped and
runs nothing twice. A bad episode is data: a fault inside one investigation is that investigation's, is tried again
with the same seed a bounded number of times, and ends as `policy_error` while the others go on.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from components.agent.loop import Investigation
from components.config.schema import AgentParams
from components.errors import EviflowError
from components.progress import Progress
from components.records.case import Case
from components.records.conversation import AsyncPolicy, Conversation, Policy
from components.records.episode import Episode, Step, StepKind, Termination, Turn
from components.records.image_bank import ImageBank
from components.rollout.budget import Budget, unlimited
from components.rollout.store import EpisodeStore, Finished
from components.tools.clients.errors import Quarantined
from components.tools.metering import Account, charged_to
from components.tools.toolbox import Toolbox

ATTEMPTS = 2
"""How often an episode may fail before it is recorded as `policy_error`."""


class Toolboxes(Protocol):
    """Whatever opens the tools of one investigation."""

    def toolbox(self, case: Case, image: bytes) -> Toolbox:
        """Fresh tools for `case`, whose encoded picture is `image`."""
        ...


class Job(NamedTuple):
    """One episode to run."""

    case: Case
    seed: int
    direct: bool = False
    """Report at once, without an investigation."""

    def episode_id(self, policy: str) -> str:
        """The id of the episode that will come of it."""
        return f"{self.case.case_id}--{policy}--s{self.seed}"


async def run_episodes(
    jobs: Sequence[Job],
    policy: Policy,
    services: Toolboxes,
    agent: AgentParams,
    *,
    bank: ImageBank,
    folder: Path,
    concurrency: int,
    title: str = "episodes",
    budget: Budget | None = None,
) -> Finished:
    """Run every job that `folder` does not already hold, and return all episodes in the order of `jobs`.

    None is kept in memory: each is read from `folder` when it is asked for, and is gone with it.

    Args:
        jobs: what to run; no two may be the same episode.
        policy: answers batches of conversations, in a thread.
        services: opens toolboxes.
        agent: budgets of an investigation.
        bank: where the cases' pictures are found.
        folder: ledgers of what is finished. Its name must stand for everything that episodes depend on.
        concurrency: investigations in flight at once.
        title: what the progress bar says.
        budget: what may be spent, and who keeps account of it; None for no limit and no account.

    Raises:
        BudgetReached: the budget is spent, and episodes are left; those that had begun are finished.
        EviflowError: the policy fails on every conversation of a batch, so that the fault is no investigation's.

    """
    if len({job.episode_id(policy.name) for job in jobs}) != len(jobs):
        raise ValueError("two jobs are the same episode; give them different seeds")
    store = EpisodeStore(folder)
    await _Rollout(policy, services, agent, bank, store, budget or unlimited()).run(jobs, concurrency, title)
    return Finished(store, [job.episode_id(policy.name) for job in jobs])


class _Slot:
    """One live investigation."""

    def __init__(self, job: Job, investigation: Investigation, account: Account) -> None:
        self.job = job
        self.investigation = investigation
        self.error: Exception | None = None
        self._account = account

    async def advance(self, turn: Turn | Exception) -> Step | None:
        if isinstance(turn, Exception):
            self.error = turn
            return None
        try:
            with charged_to(self._account):
                return await self.investigation.advance(turn)
        except Exception as error:  # attributed to this investigation; the others go on
            self.error = error
            return None


class _Rollout:
    def __init__(
        self,
        policy: Policy,
        services: Toolboxes,
        agent: AgentParams,
        bank: ImageBank,
        store: EpisodeStore,
        budget: Budget,
    ) -> None:
        self._policy = policy
        self._services = services
        self._agent = agent
        self._bank = bank
        self._store = store
        self._budget = budget
        self._failures: Counter[str] = store.failed_attempts()
        self._pending: deque[Job] = deque()
        self._live: list[_Slot] = []

    async def run(self, jobs: Sequence[Job], concurrency: int, title: str) -> None:
        done = [job for job in jobs if self._id(job) in self._store]
        self._pending.extend(job for job in jobs if self._id(job) not in self._store)
        actions = 0
        with Progress(title, len(jobs), "episodes") as progress:
            if done:
                progress.resume(len(done))
            while self._pending or self._live:
                self._fill(concurrency)
                if self._pending and not self._live and self._budget.reached:
                    raise self._budget.error(len(jobs) - len(self._pending), len(jobs))
                actions += await self._tick() if self._live else 0
                finished = len(jobs) - len(self._pending) - len(self._live)
                progress.reach(finished, f"{actions / progress.seconds:.0f} actions/s")

    def _fill(self, concurrency: int) -> None:
        while self._pending and len(self._live) < concurrency and self._has_room():
            job = self._pending.popleft()
            try:
                image = self._bank.read(job.case.image_sha256)
                toolbox = self._services.toolbox(job.case, image)
                investigation = Investigation(
                    job.case, toolbox, self._agent, policy=self._policy.name, seed=job.seed, direct=job.direct
                )
            except Exception as error:  # attributed to this investigation; the others go on
                self._store.finish(self._fail(job, None, error))
                continue
            self._live.append(_Slot(job, investigation, self._budget.spending.account(self._id(job))))

    def _has_room(self) -> bool:
        live = [self._id(slot.job) for slot in self._live]
        return self._budget.has_room(live, known=bool(self._store))

    async def _tick(self) -> int:
        """One turn of every live investigation; returns how many actions were executed."""
        turns = await _ask(self._policy, [slot.investigation.conversation() for slot in self._live])
        for slot, turn in zip(self._live, turns, strict=True):
            self._budget.spending.charge_turn(self._id(slot.job), self._policy.name, turn)
        steps = await asyncio.gather(*(slot.advance(turn) for slot, turn in zip(self._live, turns, strict=True)))
        finished: list[Episode] = []
        for slot in self._live:
            if slot.error is not None:
                finished += self._fail(slot.job, slot.investigation, slot.error)
            elif slot.investigation.done:
                finished.append(slot.investigation.episode())
        self._store.finish(finished)
        self._live = [slot for slot in self._live if slot.error is None and not slot.investigation.done]
        return sum(step is not None and step.kind is StepKind.ACTION for step in steps)

    def _fail(self, job: Job, investigation: Investigation | None, error: Exception) -> list[Episode]:
        """Count a failed attempt; run the episode again, or give it as it stands when its attempts are used up."""
        self._store.fail(self._id(job), error)
        self._failures[self._id(job)] += 1
        if self._failures[self._id(job)] < ATTEMPTS:
            self._pending.append(job)
            return []
        if investigation is None:
            return [_unopened(job, self._policy.name, self._agent)]
        investigation.abort()
        return [investigation.episode()]

    def _id(self, job: Job) -> str:
        return job.episode_id(self._policy.name)


async def _ask(policy: Policy, conversations: Sequence[Conversation]) -> list[Turn | Exception]:
    """A turn for each conversation, or the error that it alone is to blame for."""
    turns = await _halve(policy, conversations)
    # A reply that may not be used came from a policy that works.
    failed = [turn for turn in turns if isinstance(turn, Exception) and not isinstance(turn, Quarantined)]
    if len(turns) == len(failed) > 1:
        first = failed[0]
        raise EviflowError(
            f"policy {policy.name} failed on all {len(turns)} conversations, first with {type(first).__name__}: {first}"
        ) from first
    return turns


async def _halve(policy: Policy, conversations: Sequence[Conversation]) -> list[Turn | Exception]:
    """Ask for a batch; where it fails, ask for its halves, down to the conversation that breaks it."""
    if isinstance(policy, AsyncPolicy):
        return await policy.answer(conversations)
    try:
        turns = policy.act(conversations) if policy.quick else await asyncio.to_thread(policy.act, conversations)
    except Exception as error:  # attributed below
        if len(conversations) == 1:
            return [error]
        middle = len(conversations) // 2
        return [*await _halve(policy, conversations[:middle]), *await _halve(policy, conversations[middle:])]
    if len(turns) != len(conversations):
        raise EviflowError(f"policy {policy.name} gave {len(turns)} turns for {len(conversations)} conversations")
    return list(turns)


def _unopened(job: Job, policy: str, agent: AgentParams) -> Episode:
    """The record of an investigation that could not even begin."""
    return Episode(
        episode_id=job.episode_id(policy),
        case=job.case,
        policy=policy,
        seed=job.seed,
        exposed_tools=(),
        action_budget=agent.action_budget,
        steps=(),
        report=None,
        termination=Termination.POLICY_ERROR,
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        duration_s=0.0,
    )
