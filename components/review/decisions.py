"""What a reviewer decides, as it is written down."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from components.errors import EviflowError, UsageError
from components.records.base import Record


class Queue(StrEnum):
    """What is under review."""

    CASES = "cases"
    """The candidates for the benchmark, with their private records."""
    EPISODES = "episodes"
    """The teacher's episodes, step by step."""


class Role(StrEnum):
    """What somebody does in a review."""

    REVIEWER = "reviewer"
    """Decides on every item, without knowing what the other decides."""
    ADJUDICATOR = "adjudicator"
    """Settles the items on which the reviewers disagree."""


class Choice(StrEnum):
    """What becomes of an item."""

    ACCEPT = "accept"
    EDIT = "edit"
    """Kept, with the edits."""
    REJECT = "reject"


class Draft(Record):
    """A decision as somebody hands it in, with what it was made upon."""

    choice: Choice
    revision: Annotated[int, Field(ge=0)]
    """Of this person's decision on the item that was in view: 0 when there was none."""
    digest: str
    """Of the item as it was in view."""
    edits: dict[str, Annotated[str, Field(max_length=2000)]] = Field(default_factory=dict)
    """New values by field name, for an edit."""
    comment: Annotated[str, Field(max_length=4000)] = ""
    """Why; needed for a rejection."""
    first_bad_step: Annotated[int, Field(ge=0)] | None = None
    """Index of the step where a rejected episode goes wrong."""
    upon: str = ""
    """For the adjudicator: digest of the two decisions that were in view."""


class Decision(Record):
    """One line of a reviewer's ledger. Changing one's mind appends another with the next revision."""

    item_id: str
    item_digest: str
    """Of what was shown: the decision counts only as long as the item is still that."""
    reviewer: str
    role: Role
    choice: Choice
    edits: dict[str, str] = Field(default_factory=dict)
    comment: str = ""
    first_bad_step: int | None = None
    upon: str = ""
    """For the adjudicator: digest of the two decisions that it settles."""
    revision: int
    """1 for the first decision of this person on the item."""
    decided_at: str
    """UTC, ISO 8601; empty for a program in the chain, whose decisions follow from a seed."""
    scripted: bool = False
    """Whether a program decided, standing in for a person."""
    error_rate: float | None = None
    """How often the program errs on purpose; None for a person."""


class DecisionConflict(EviflowError):
    """A decision was made upon something that is no longer so; nothing was written."""


class DecisionInvalid(UsageError):
    """A decision says something that its item does not allow; nothing was written."""


class NotVisible(EviflowError):
    """There is no such item for this person."""
