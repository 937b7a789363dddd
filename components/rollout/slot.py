"""One investigation of a rollout: its turns, its errors, and the notes by which it is taken up again."""

from typing import NamedTuple

from components.agent.loop import Investigation
from components.records.case import Case
from components.records.episode import Step, StepKind, Turn
from components.rollout.journal import EpisodeJournal
from components.tools.metering import Account, charged_to


class Job(NamedTuple):
    """One episode to run."""

    case: Case
    seed: int
    direct: bool = False
    """Report at once, without an investigation."""

    def episode_id(self, policy: str) -> str:
        """The id of the episode that will come of it."""
        return f"{self.case.case_id}--{policy}--s{self.seed}"


class Slot:
    """One live investigation.

    Args:
        job: what is run.
        investigation: just begun.
        account: what it spends is charged to.
        notes: of an earlier run that was broken off, and of this one; None where none are kept.

    """

    def __init__(self, job: Job, investigation: Investigation, account: Account, notes: EpisodeJournal | None) -> None:
        self.job = job
        self.investigation = investigation
        self.error: Exception | None = None
        self._account = account
        self._notes = notes

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to ask the policy."""
        return self.error is not None or self.investigation.done

    async def take_up(self) -> None:
        """Go on where an earlier run was broken off; what fails on the way is this investigation's `error`."""
        if self._notes is None:
            return
        try:
            with charged_to(self._account):
                await self._notes.replay(self.investigation)
        except Exception as error:  # attributed to this investigation; the others go on
            self.error = error

    async def advance(self, turn: Turn | Exception) -> bool:
        """Take a turn; returns whether an action was executed."""
        if isinstance(turn, Exception):
            self.error = turn
            return False
        try:
            with charged_to(self._account):
                step = await self._advance(turn)
        except Exception as error:  # attributed to this investigation; the others go on
            self.error = error
            return False
        return step.kind is StepKind.ACTION

    async def _advance(self, turn: Turn) -> Step:
        if self._notes is None:
            return await self.investigation.advance(turn)
        self._notes.answered(turn)
        step = await self.investigation.advance(turn)
        self._notes.executed(self.investigation.outcome)
        return step

    def forget(self) -> None:
        """Drop the notes of an episode that is kept elsewhere."""
        if self._notes is not None:
            self._notes.forget()
