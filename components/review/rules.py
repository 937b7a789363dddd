"""The rules of the panel: when two decisions agree, and what an item's decisions come to.

Two reviewers who agree settle an item. Where they disagree the adjudicator settles it; that decision holds for the two
decisions it was made upon, and a reviewer who changes one of them opens the item again.
"""

from enum import StrEnum
from typing import NamedTuple

from pydantic import Field

from components.records.base import Record
from components.review.decisions import Choice, Decision
from components.storage.identity import digest_value


class Standing(StrEnum):
    """How far an item is."""

    OPEN = "open"
    """A reviewer has not decided yet, or decided on what the item no longer is."""
    AGREED = "agreed"
    """Settled by both reviewers."""
    DISPUTED = "disputed"
    """Waits for the adjudicator."""
    ADJUDICATED = "adjudicated"
    """Settled by the adjudicator."""


class Votes(NamedTuple):
    """The newest decisions on one item, each None when there is none on the item as it is now."""

    first: Decision | None
    second: Decision | None
    third: Decision | None = None
    """The adjudicator's."""


class Outcome(Record):
    """What an item's decisions come to."""

    item_id: str
    standing: Standing
    choice: Choice | None = None
    """None while it is not settled."""
    edits: dict[str, str] = Field(default_factory=dict)
    first_bad_step: int | None = None
    """None as well when two agreeing reviewers name different steps."""
    scripted: bool = False
    """Whether programs decided."""


def agree(first: Decision, second: Decision) -> bool:
    """Whether two decisions come to the same: the same choice, and for edits the same values."""
    return first.choice is second.choice and first.edits == second.edits


def disputed(votes: Votes) -> bool:
    """Whether both reviewers have decided, and not the same."""
    return votes.first is not None and votes.second is not None and not agree(votes.first, votes.second)


def digest_pair(votes: Votes) -> str:
    """What an adjudication is made upon; "" when a reviewer has not decided."""
    if votes.first is None or votes.second is None:
        return ""
    return digest_value({"decisions": [vote.model_dump(mode="json") for vote in (votes.first, votes.second)]})


def outcome(item_id: str, votes: Votes) -> Outcome:
    """What the decisions on an item come to."""
    if votes.first is None or votes.second is None:
        return Outcome(item_id=item_id, standing=Standing.OPEN)
    if agree(votes.first, votes.second):
        same_step = votes.first.first_bad_step == votes.second.first_bad_step
        return _settled(votes.first, Standing.AGREED, votes.first.first_bad_step if same_step else None)
    if votes.third is None or votes.third.upon != digest_pair(votes):
        return Outcome(item_id=item_id, standing=Standing.DISPUTED)
    return _settled(votes.third, Standing.ADJUDICATED, votes.third.first_bad_step)


def _settled(decision: Decision, standing: Standing, first_bad_step: int | None) -> Outcome:
    return Outcome(
        item_id=decision.item_id,
        standing=standing,
        choice=decision.choice,
        edits=decision.edits,
        first_bad_step=first_bad_step,
        scripted=decision.scripted,
    )
