"""Which episodes become rows. Each product, the rows to train on and those kept apart, is decided by itself."""

import hashlib
import re
from enum import StrEnum
from typing import Any

from components.config.schema import SftRowsParams
from components.records.base import Record
from components.records.episode import Episode, StepKind
from components.training.row_record import Bucket
from components.training.rows import Row
from components.training.spans import SpanName, thought_of


class Reason(StrEnum):
    """Why an episode, or one row of it, is not learned from."""

    DANGLING_CITATION = "dangling_citation"
    """Its report cites an id that the policy cannot have read where it says."""
    TAG_NOT_FOUND = "tag_not_found"
    """A call or the report is not among the ids of its turn, so that its weight would be lost."""
    TOO_LONG = "too_long"
    """A row is longer than `policy.max_length`; it is never cut."""
    NOTHING_SUPERVISED = "nothing_supervised"
    """A row has no token with a weight."""
    QUICK = "quick"
    """It ends after few calls, and is not of the share that is kept."""
    ACTION_ONLY = "action_only"
    """It has a call without a thought, and is kept apart."""


class Refusal(Record):
    """One line of `rejected.jsonl`: an episode, or a row of it, that is not in the rows to train on."""

    episode_id: str
    part: int | None
    """The row; None for the whole episode."""
    reason: Reason
    detail: str
    """What was found."""


def bucket_of(episode: Episode) -> Bucket:
    """Whether every call has a thought that can be read."""
    silent = any(step.call is not None and not thought_of(step.turn.text) for step in episode.steps)
    return Bucket.ACTION_ONLY if silent else Bucket.REASONING


def dangling(episode: Episode, whole: Row, tokenizer: Any) -> list[str]:
    """Cited ids that do not stand, letter by letter, in an unmasked successful observation of the training text.

    Args:
        episode: a reviewed episode.
        whole: its row that holds everything, the last one.
        tokenizer: the student's.

    """
    if episode.report is None:
        return []
    told = {span.step: span for span in whole.spans if span.name is SpanName.OBSERVATION}
    visible = set()
    for step in episode.steps:
        found, span = step.observation, told.get(step.index)
        if found is not None and found.succeeded and not step.masked and span is not None:
            text = tokenizer.decode(whole.encoded.token_ids[span.start : span.end])
            if re.search(rf"(?<!\w){re.escape(found.observation_id)}(?!\w)", text):
                visible.add(found.observation_id)
    return [name for name in episode.report.cited if name not in visible]


def is_quick(episode: Episode, params: SftRowsParams) -> bool:
    """Whether it answers after few executed calls."""
    return sum(step.kind is StepKind.ACTION for step in episode.steps) <= params.quick_calls


def is_kept(episode_id: str, params: SftRowsParams) -> bool:
    """Whether a quick episode is of the share that is kept; one that is kept stays so when the share grows."""
    drawn = hashlib.sha256(f"{params.seed}:{episode_id}".encode()).digest()[:8]
    return int.from_bytes(drawn, "big") < params.quick_share * 2**64


def row_refusal(row: Row, max_length: int) -> tuple[Reason, str] | None:
    """Why a row cannot be learned from, if it cannot."""
    if row.length > max_length:
        return Reason.TOO_LONG, f"{row.length} tokens, policy.max_length is {max_length}"
    if not any(row.weights):
        return Reason.NOTHING_SUPERVISED, "every token weighs nothing"
    return None
