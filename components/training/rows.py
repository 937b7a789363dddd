"""Training rows: the token ids of a whole episode, and how much each of them counts.

Spans are found among ids, by the structure tokens, never by decoding: what was sampled is what is learned.
Weights follow EviScene's recipe: tool calls and the report count double, tags and stop token included; reasoning counts
once; whatever the policy did not write counts nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from components.config.schema import SftParams
from components.policies.encoding import ChatEncoder, Encoded
from components.policies.tokens import ANSWER, TOOL_CALL
from components.records.conversation import Message, ToolSchema
from components.records.episode import Episode


@dataclass(frozen=True)
class Row:
    """One episode, ready to train on."""

    episode_id: str
    encoded: Encoded
    weights: list[float]
    """One for each id: the loss weight of predicting it."""

    @property
    def length(self) -> int:
        """Tokens, pictures included."""
        return len(self.weights)


def encode_episode(
    episode: Episode,
    messages: Sequence[Message],
    tools: Sequence[ToolSchema],
    encoder: ChatEncoder,
    params: SftParams,
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

    """
    positions = [position for position, message in enumerate(messages) if message.role == "assistant"]
    if len(positions) != len(episode.steps):
        raise ValueError(f"{episode.episode_id} has {len(episode.steps)} steps and {len(positions)} turns")
    rows: list[Row] = []
    left = len(positions)
    while left:
        end = len(messages) if not rows else positions[left - 1] + 1
        encoded = encoder.encode(messages[:end], tools, prompt=False)
        weights = [0.0] * len(encoded.token_ids)
        for step, (start, stop) in list(zip(episode.steps, encoded.turns, strict=False))[encoded.thoughtless : left]:
            if not step.masked:
                weights[start:stop] = turn_weights(encoded.token_ids[start:stop], encoder, params)
        rows.append(Row(episode.episode_id, encoded, weights))
        left = encoded.thoughtless
    return rows[::-1]


def turn_weights(token_ids: Sequence[int], encoder: ChatEncoder, params: SftParams) -> list[float]:
    """The weight of each id of one assistant turn: reasoning up to the call or report, which runs to the stop token."""
    opening = dict.fromkeys(encoder.ids_opening(TOOL_CALL), params.tool_call_weight)
    opening |= dict.fromkeys(encoder.ids_opening(ANSWER), params.report_weight)
    weights = []
    current = params.reasoning_weight
    for token in token_ids:
        current = opening.get(token, current)
        weights.append(current)
    return weights
