"""What an unfinished investigation has got so far, on disk before it is used: turns, and what calls have found.

An investigation that a kill has broken off is taken up again from here: its turns are fed to it once more and its
observations are given back, so that neither the policy nor a paid service is asked a second time. What was under way at
the kill has no answer that anybody has seen, and is asked again.

    notes = Journal(folder).of(episode_id, attempt)
    await notes.replay(investigation)
    while not investigation.done:
        turn = ...                               # charged first: what is kept is not charged again
        notes.answered(turn)
        await investigation.advance(turn)
        notes.executed(investigation.outcome)
    ...                                          # the episode is in the store
    notes.forget()
"""

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from components.agent.loop import Investigation
from components.errors import EviflowError
from components.records.episode import Turn
from components.storage.ledger import Ledger
from components.tools.memory import Outcome

FOLDER = "journal"
_NAME = 24
"""Digits of a file's name: an episode's id may hold what no file's name may."""


class Kept(NamedTuple):
    """One turn that was answered."""

    turn: Turn
    outcome: Outcome | None
    """What its call has found; None where it made none, or where the kill came before its end."""


class Journal:
    """Notes of all unfinished investigations of one rollout, a file for each; those of finished ones are gone.

    Args:
        folder: the rollout's unfinished work, whose name stands for everything that episodes depend on.

    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def of(self, episode_id: str, attempt: int = 0) -> "EpisodeJournal":
        """The notes of one attempt at an episode; nothing is read before it is asked for.

        Args:
            episode_id: whose.
            attempt: turns of other attempts are passed over. One that goes on where the last has stopped, such as
                after an outage, has the number of the last; one that begins anew, such as after a reply that may not
                be used, has a number of its own.

        """
        name = hashlib.sha256(episode_id.encode()).hexdigest()[:_NAME]
        return EpisodeJournal(self._folder / f"{name}.jsonl", episode_id, attempt)


class EpisodeJournal:
    """The notes of one attempt at one episode. Whoever writes is alone.

    Args:
        path: of the file, which all attempts share.
        episode_id: whose notes they are.
        attempt: which.

    """

    def __init__(self, path: Path, episode_id: str, attempt: int) -> None:
        self._ledger = Ledger(path)
        self._episode_id = episode_id
        self._attempt = attempt

    @cached_property
    def _read(self) -> list[dict[str, Any]]:
        return [self._own(record) for record in self._ledger.read()]

    @cached_property
    def kept(self) -> list[Kept]:
        """What this attempt had got when it was opened, in order; raises EviflowError where the file is damaged."""
        own = [record for record in self._read if record["attempt"] == self._attempt]
        outcomes = {record["index"]: Outcome.model_validate(record["outcome"]) for record in own if "outcome" in record}
        turns = [record for record in own if "turn" in record]
        if [record["index"] for record in turns] != list(range(len(turns))) or not outcomes.keys() <= set(
            range(len(turns))
        ):
            raise EviflowError(f"{self._ledger.path} lacks a turn of {self._episode_id}; delete it to begin that anew")
        return [Kept(Turn.model_validate(record["turn"]), outcomes.get(record["index"])) for record in turns]

    def set_aside(self) -> None:
        """Begin without what is kept, which cannot be read; the file stays beside."""
        path = self._ledger.path
        path.replace(path.with_suffix(".damaged"))
        for name in ("_read", "kept", "_next"):
            self.__dict__.pop(name, None)

    async def replay(self, investigation: Investigation) -> int:
        """Bring a fresh investigation to where this attempt had come; returns how many turns that was.

        A call that the kill had broken off is executed, so charge it to the episode's account as any other.

        Raises:
            EviflowError: what is kept is not of this investigation.

        """
        for index, (turn, outcome) in enumerate(self.kept):
            await investigation.advance(turn, outcome)
            if outcome is None:
                self._note(index, outcome=investigation.outcome)
        self._next = len(self.kept)
        return self._next

    def answered(self, turn: Turn) -> None:
        """The turn that came: on disk before anybody uses it."""
        self._append({"index": self._next, "turn": turn.model_dump(mode="json")})
        self._next += 1

    def executed(self, outcome: Outcome | None) -> None:
        """What the last turn's call has found, if it made one: on disk before the policy sees it."""
        self._note(self._next - 1, outcome)

    def forget(self) -> None:
        """The episode is finished and kept elsewhere: nothing of it is needed any more."""
        self._ledger.path.unlink(missing_ok=True)

    @cached_property
    def _next(self) -> int:
        return len(self.kept)

    def _note(self, index: int, outcome: Outcome | None) -> None:
        if outcome is not None:
            self._append({"index": index, "outcome": outcome.model_dump(mode="json")})

    def _append(self, record: dict[str, Any]) -> None:
        self._ledger.append({"episode_id": self._episode_id, "attempt": self._attempt} | record)

    def _own(self, record: dict[str, Any]) -> dict[str, Any]:
        if record.get("episode_id") != self._episode_id:
            raise EviflowError(f"{self._ledger.path} has notes of {record.get('episode_id')}, not {self._episode_id}")
        return record
