"""Which tokens of a turn are thought, call and report.

The student's tags are tokens of their own, as `<tool_call>` is in Qwen's tokenizers. A tag that is none there, as is
`<answer>` in Qwen's, or that was sampled in pieces, is found by the texts of the single tokens behind the thought.
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import NamedTuple

from components.errors import EviflowError
from components.policies.encoding import ChatEncoder
from components.policies.tokens import ANSWER, TOOL_CALL

_CLOSED = "</think>"


class SpanName(StrEnum):
    """What a span of a row is."""

    PROMPT = "prompt"
    """All that stands before the policy's first turn."""
    REASONING = "reasoning"
    """What a turn has before its call or report."""
    TOOL_CALL = "tool_call"
    """From the opening tag to the stop token."""
    REPORT = "report"
    """From the opening tag to the stop token."""
    OBSERVATION = "observation"
    """What a tool returned, its pictures and the opening of the next turn included."""
    FEEDBACK = "feedback"
    """What a policy is told after a refused turn, or after it finished."""
    CLOSING = "closing"
    """What the chat template has behind the last turn."""


class TagNotFound(EviflowError):
    """A call or report of a turn is not among its ids, so that its weight would be lost."""


class Piece(NamedTuple):
    """A part of a turn, as positions in it."""

    name: SpanName
    start: int
    end: int


TAGS = {SpanName.TOOL_CALL: TOOL_CALL, SpanName.REPORT: ANSWER}


def turn_spans(token_ids: Sequence[int], encoder: ChatEncoder, written: SpanName, place: str = "a turn") -> list[Piece]:
    """The parts of one assistant turn, which cover it.

    Args:
        token_ids: the turn's.
        encoder: the student's encoder.
        written: what the turn has to contain, as the agent has read it.
        place: names the turn.

    Raises:
        TagNotFound: `written` is nowhere among the ids.

    """
    named = {token: name for name, tag in TAGS.items() for token in encoder.ids_opening(tag)}
    starts = {at: named[token] for at, token in enumerate(token_ids) if token in named}
    if written in TAGS and written not in starts.values():
        starts[_found_by_text(token_ids, encoder, TAGS[written], place)] = written
    starts = {0: SpanName.REASONING} | dict(sorted(starts.items()))
    borders = [*starts, len(token_ids)]
    return [
        Piece(name, start, end)
        for (start, end), name in zip(pairwise(borders), starts.values(), strict=True)
        if start < end
    ]


def thought_of(text: str) -> str:
    """What a turn says before its call or report, without tags; empty if that has no letter and no digit."""
    said = min((text.partition(tag)[0] for tag in TAGS.values()), key=len)
    said = said.replace("<think>", "").replace(_CLOSED, "").strip()
    return said if any(character.isalnum() for character in said) else ""


def _found_by_text(token_ids: Sequence[int], encoder: ChatEncoder, tag: str, place: str) -> int:
    """The token in which a tag begins, by the texts of single tokens behind the thought."""
    pieces = [encoder.tokenizer.decode([token]) for token in token_ids]
    text = "".join(pieces)
    begins = text.find(tag, text.find(_CLOSED) + 1)
    if begins < 0:
        raise TagNotFound(f"{place} has no {tag} among its tokens, though its text has one")
    ends = accumulate(map(len, pieces))
    return next(at for at, end in enumerate(ends) if end > begins)
