"""Many investigations at once, each going on by itself; a policy that computes answers them in batches.

A finished episode is on disk before its place is taken by the next one, so a killed run goes on where it stopped and
runs nothing twice. A bad episode is data: a fault inside one investigation is that investigation's, is tried again
with the same seed a bounded number of times, and ends as `policy_error` while the others go on.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from components.agent.loop import Investigation
from components.config.schema import AgentParams
from components.progress import Progress
from components.records.case import Case
from components.records.conversation import Policy
from components.records.episode import Episode, Termination
from components.records.image_bank import ImageBank
from components.rollout.asking import Asker, Blame, asking
from components.rollout.budget import Budget, unlimited
from components.rollout.drain import Drain, drainable
from components.rollout.slot import Job, Slot
from components.rollout.store import Finished, Layout, RolloutStore
from components.rollout.writer import Writer
from components.tools.clients.errors import Quarantined, ServiceError
from components.tools.toolbox import Toolbox


class Toolboxes(Protocol):
    """Whatever opens the tools of one investigation."""

    def toolbox(self, case: Case, image: bytes) -> Toolbox:
        """Fresh tools for `case`, whose encoded picture is `image`."""
        ...


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
    layout: Layout | None = None,
    drain: Drain | None = None,
    journal: bool = False,
) -> Finished:
    """Run every job that `folder` does not already hold, and return all episodes in the order of `jobs`.

    None is kept in memory: each is read from `folder` when it is asked for, and is gone with it.

    Args:
        jobs: what to run; no two may be the same episode.
        policy: answers conversations, in a thread where it computes.
        services: opens toolboxes.
        agent: budgets of an investigation.
        bank: where the cases' pictures are found.
        folder: ledgers of what is finished. Its name must stand for everything that episodes depend on.
        concurrency: investigations in flight at once.
        title: what the progress bar says.
        budget: what may be spent, and who keeps account of it; None for no limit and no account.
        layout: what a rollout that begins here is begun with.
        drain: by which the rollout may be asked to end, besides by SIGTERM.
        journal: keep every turn and every result as it comes, so that what a kill breaks off is taken up in the middle
            and nothing is paid twice; for policies and services that cost less than the notes it is left out.

    Raises:
        BudgetReached: the budget is spent, and episodes are left; those that had begun are finished.
        Drained: the rollout was asked to end, and episodes are left.
        PreflightError: another process writes these shards.
        EviflowError: the policy fails on every conversation, so that the fault is no investigation's.

    """
    ids = [job.episode_id(policy.name) for job in jobs]
    if len(set(ids)) != len(jobs):
        raise ValueError("two jobs are the same episode; give them different seeds")
    store = RolloutStore(folder, layout)
    with store.written(sorted({store.shard_of(episode_id) for episode_id in ids})):
        rollout = _Rollout(policy, services, agent, bank, store, budget or unlimited(), drain or Drain(), journal)
        await rollout.run(jobs, concurrency, title)
    return Finished(store, ids)


class _Rollout:
    def __init__(
        self,
        policy: Policy,
        services: Toolboxes,
        agent: AgentParams,
        bank: ImageBank,
        store: RolloutStore,
        budget: Budget,
        drain: Drain,
        journal: bool,
    ) -> None:
        self._policy = policy
        self._services = services
        self._agent = agent
        self._bank = bank
        self._store = store
        self._budget = budget
        self._drain = drain
        self._writer = Writer(store)
        self._failures, self._restarts = store.failed_attempts(), store.restarts()
        self._journal = journal
        self._live: dict[str, Slot] = {}
        self._blame = Blame(policy.name, lambda: len(self._live))
        self._ended = asyncio.Event()
        self._actions = self._reports = self._finished = 0

    async def run(self, jobs: Sequence[Job], concurrency: int, title: str) -> None:
        left = [job for job in jobs if self._id(job) not in self._store]
        before = len(jobs) - len(left)
        with Progress(title, len(jobs), "episodes") as progress:
            if before:
                progress.resume(before)
            async with drainable(self._drain), asking(self._policy, concurrency) as asker:
                await self._run_lanes(
                    asker, left, lambda: progress.reach(before + self._finished, self._note(progress))
                )
            if self._finished < len(left):
                told = (before + self._finished, len(jobs))
                raise self._drain.error(*told) if self._drain.asked else self._budget.error(*told)

    async def _run_lanes(self, asker: Asker, jobs: Sequence[Job], tell: Callable[[], None]) -> None:
        """Deal the jobs: from one queue, unless the jobs of a batch may not depend on how long others took."""
        shared = deque(jobs)
        queues = [shared if asker.width == 1 else deque(jobs[lane :: asker.lanes]) for lane in range(asker.lanes)]
        try:
            async with asyncio.TaskGroup() as group:
                lanes = [group.create_task(self._lane(asker, queue, tell)) for queue in queues]
                self._drain.give_up_with(lanes)
        except BaseExceptionGroup as group_error:
            first = group_error.exceptions[0]
            raise first from first.__cause__
        finally:
            self._writer.flush()

    async def _lane(self, asker: Asker, queue: deque[Job], tell: Callable[[], None]) -> None:
        slots: list[Slot] = []
        while await self._fill(slots, queue, asker.width):
            await self._turn(asker, slots, queue)
            tell()

    async def _fill(self, slots: list[Slot], queue: deque[Job], width: int) -> bool:
        """Begin investigations until the lane is full; returns whether it has any."""
        while queue and len(slots) < width and not self._drain.asked:
            if self._has_room():
                await self._open(queue.popleft(), slots, queue)
            elif slots or not self._live:
                break
            else:
                await self._ended.wait()
        return bool(slots)

    def _has_room(self) -> bool:
        return self._budget.has_room(list(self._live), known=bool(self._store))

    async def _open(self, job: Job, slots: list[Slot], queue: deque[Job]) -> None:
        name = self._id(job)
        try:
            image = self._bank.read(job.case.image_sha256)
            toolbox = self._services.toolbox(job.case, image)
            investigation = Investigation(
                job.case, toolbox, self._agent, policy=self._policy.name, seed=job.seed, direct=job.direct
            )
            notes = self._store.journal(name, self._restarts[name]) if self._journal else None
            slot = Slot(job, investigation, self._budget.spending.account(name), notes)
        except Exception as error:  # attributed to this investigation; the others go on
            await self._keep(self._fail(job, None, error, queue))
            return
        # In flight before anything is awaited: what a kill broke off may be executed now, and counts.
        self._live[name] = slot
        await slot.take_up()
        if slot.ended:
            await self._leave([slot], queue)
        else:
            slots.append(slot)

    async def _turn(self, asker: Asker, slots: list[Slot], queue: deque[Job]) -> None:
        """One turn of every investigation of a lane."""
        begun = asyncio.get_running_loop().time()
        turns = await asker.ask([slot.investigation.conversation() for slot in slots])
        for slot, turn in zip(slots, turns, strict=True):
            self._budget.spending.charge_turn(self._id(slot.job), self._policy.name, turn)
        await self._blame.settle(begun, turns, self._id(slots[0].job))
        acted = await asyncio.gather(*(slot.advance(turn) for slot, turn in zip(slots, turns, strict=True)))
        self._actions += sum(acted)
        await self._leave([slot for slot in slots if slot.ended], queue)
        slots[:] = [slot for slot in slots if not slot.ended]

    async def _leave(self, slots: Sequence[Slot], queue: deque[Job]) -> None:
        """Keep what has ended; only then its places are free."""
        if not slots:
            return
        finished: list[Episode] = []
        for slot in slots:
            if slot.error is None:
                finished.append(slot.investigation.episode())
            else:
                finished += self._fail(slot.job, slot.investigation, slot.error, queue)
        await self._keep(finished)
        for slot in slots:
            del self._live[self._id(slot.job)]
            if self._id(slot.job) in self._store:
                slot.forget()
        self._ended.set()
        self._ended = asyncio.Event()
        self._blame.look()

    async def _keep(self, episodes: Sequence[Episode]) -> None:
        await self._writer.keep(episodes)
        self._finished += len(episodes)
        self._reports += sum(episode.report is not None for episode in episodes)

    def _fail(
        self, job: Job, investigation: Investigation | None, error: Exception, queue: deque[Job]
    ) -> list[Episode]:
        """Count a failed attempt; run the episode again, or give it as it stands when its attempts are used up."""
        # A reply that may not be used makes the whole investigation suspect; one that never came does not.
        anew = isinstance(error, Quarantined) or not isinstance(error, ServiceError)
        self._store.fail(self._id(job), error, anew=anew)
        self._failures[self._id(job)] += 1
        self._restarts[self._id(job)] += anew
        if self._failures[self._id(job)] < self._store.layout.attempts:
            queue.append(job)
            return []
        if investigation is None:
            return [_unopened(job, self._policy.name, self._agent)]
        investigation.abort()
        return [investigation.episode()]

    def _note(self, progress: Progress) -> str:
        """What the progress bar says besides: the pace, how many have a report, and what was spent."""
        share = f", {100 * self._reports / self._finished:.0f} % with a report" if self._finished else ""
        spent = self._budget.spending.usd
        return f"{self._actions / progress.seconds:.0f} actions/s{share}" + (f", {spent:.2f} USD" if spent else "")

    def _id(self, job: Job) -> str:
        return job.episode_id(self._policy.name)


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
