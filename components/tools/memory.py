"""What an investigation's tools come to know by a call, besides its observation: as a record, so that it can be kept.

An investigation that is taken up again after a kill is given what its calls had found. Its tools must then stand as if
they had been executed: with the same limits used up, the same questions asked, the same pictures open to comparison.
"""

from components.records.base import Record
from components.records.episode import Observation
from components.tools.base import CaseState


class Learned(Record):
    """What one call has added to a `CaseState`."""

    charged: bool
    """Whether it counts against the tool's limit."""
    seconds: float
    """What it took."""
    asked: tuple[tuple[str, str], ...] = ()
    clues: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()


class Outcome(Record):
    """An executed call: what is shown of it, and what the tools keep of it."""

    observation: Observation
    learned: Learned


class Before:
    """A `CaseState` as it is before a call by `tool`."""

    def __init__(self, state: CaseState, tool: str) -> None:
        self._tool = tool
        self._used = state.used[tool]
        self._seconds = state.seconds
        self._asked = set(state.asked)
        self._clues = len(state.clues)
        self._offered = set(state.offered)

    def learned(self, state: CaseState) -> Learned:
        """What has been added since."""
        return Learned(
            charged=state.used[self._tool] > self._used,
            seconds=state.seconds - self._seconds,
            asked=tuple(sorted(state.asked - self._asked)),
            clues=tuple(state.clues[self._clues :]),
            offered=tuple(sorted(state.offered - self._offered)),
        )


def learn(state: CaseState, tool: str, learned: Learned) -> None:
    """Add to `state` what a call by `tool` had added."""
    state.used[tool] += learned.charged
    state.seconds += learned.seconds
    state.asked.update(learned.asked)
    state.clues.extend(learned.clues)
    state.offered.update(learned.offered)
