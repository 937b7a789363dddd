"""Training rows: the token ids of a whole episode, and how much each of them counts.

Spans are found among ids, by the structure tokens, never by decoding: what was sampled is what is learned.
Weights follow EviScene's recipe: tool calls and the report count double, tags and stop token included; reasoning counts
once; an empty thought and whatever the policy did not write count nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from components.config.schema import SftRowsParams
from components.policies.encoding import ChatEncoder, Encoded
from components.records.conversation import Message, ToolSchema
from components.records.episode import Episode, Step, StepKind
from components.training.spans import SpanName, thought_of, turn_spans


class Span(NamedTuple):
    """Neighbouring tokens of one kind. The spans of a row follow each other and cover it."""

    name: SpanName
    start: int
    end: int
    """Exclusive."""
    step: int | None
    """Index of the step that wrote it or led to it; None before the first."""
    weight: float
    """The loss weight of each of its tokens."""


@dataclass(frozen=True)
class Row:
    """One episode, ready to train on."""

    episode_id: str
    encoded: Encoded
    weights: list[float]
    """One for each id: the loss weight of predicting it."""
    spans: tuple[Span, ...] = ()

    @property
    def length(self) -> int:
        """Tokens, pictures included."""
        return len(self.weights)


def encode_episode(
    episode: Episode,
    messages: Sequence[Message],
    tools: Sequence[ToolSchema],
    encoder: ChatEncoder,
    params: SftRowsParams,
) -> list[Row]:
    """The rows of one episode: one, unless the chat template leaves out the thoughts of earlier turns.

    Such a template changes what a turn was written upon as soon as the user says something new. So the row of the whole
    episode teaches only turns that stand there whole; the last of the others ends a row of its own, which teaches what
    stands whole in it, and so on. Each turn is learned once, upon the very ids that its policy was given.

    Args:
        episode: a reviewed episode; turns of steps marked `masked` stay as context and weigh nothing.
        messages: the episode as the policy saw it, its own turns included.
        tools: the tools the prompt listed.
        encoder: the student's encoder.
        params: the weights.

    Raises:
        TagNotFound: a call or report is not found among the ids of a turn, so that its weight would be lost.

    """
    positions = [position for position, message in enumerate(messages) if message.role == "assistant"]
    if len(positions) != len(episode.steps):
        raise ValueError(f"{episode.episode_id} has {len(episode.steps)} steps and {len(positions)} turns")
    rows: list[Row] = []
    left = len(positions)
    while left:
        end = len(messages) if not rows else positions[left - 1] + 1
        encoded = encoder.encode(messages[:end], tools, prompt=False)
        spans = _row_spans(episode, encoded, left, encoder, params)
        rows.append(Row(episode.episode_id, encoded, _weights(spans), spans))
        left = encoded.thoughtless
    return rows[::-1]


def _weights(spans: Sequence[Span]) -> list[float]:
    return [span.weight for span in spans for _ in range(span.start, span.end)]


def _row_spans(
    episode: Episode, encoded: Encoded, left: int, encoder: ChatEncoder, params: SftRowsParams
) -> tuple[Span, ...]:
    """What the row consists of; of its turns only those that stand whole, up to `left`, are learned."""
    spans: list[Span] = []
    told, at = SpanName.PROMPT, 0
    before: int | None = None
    for position, (step, (start, stop)) in enumerate(zip(episode.steps, encoded.turns, strict=False)):
        learned = encoded.thoughtless <= position < left and not step.masked
        spans += [Span(told, at, start, before, 0.0)] if start > at else []
        spans += _of_turn(episode.episode_id, step, encoded.token_ids[start:stop], start, learned, encoder, params)
        told, at, before = _told_after(step), stop, step.index
    if at < len(encoded.token_ids):
        spans.append(Span(SpanName.CLOSING, at, len(encoded.token_ids), before, 0.0))
    return tuple(spans)


def _of_turn(
    episode_id: str,
    step: Step,
    token_ids: Sequence[int],
    offset: int,
    learned: bool,
    encoder: ChatEncoder,
    params: SftRowsParams,
) -> list[Span]:
    weights = {
        SpanName.REASONING: params.reasoning_weight if thought_of(step.turn.text) else 0.0,
        SpanName.TOOL_CALL: params.tool_call_weight,
        SpanName.REPORT: params.report_weight,
    }
    written = _written_by(step) if learned else SpanName.REASONING
    return [
        Span(name, offset + start, offset + end, step.index, weights[name] if learned else 0.0)
        for name, start, end in turn_spans(token_ids, encoder, written, f"{episode_id}, step {step.index}")
    ]


def _written_by(step: Step) -> SpanName:
    """What a step's turn has to contain."""
    if step.call is not None:
        return SpanName.TOOL_CALL
    return SpanName.REPORT if step.kind is StepKind.REPORT else SpanName.REASONING


def _told_after(step: Step) -> SpanName:
    return SpanName.OBSERVATION if step.kind is StepKind.ACTION else SpanName.FEEDBACK
