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
) -> Row:
    """The row of one episode.

    Args:
        episode: a reviewed episode; turns of steps marked `masked` stay as context and weigh nothing.
        messages: the episode as the policy saw it, its own turns included.
        tools: the tools the prompt listed.
        encoder: the student's encoder.
        params: the weights.

    """
    encoded = encoder.encode(messages, tools, prompt=False)
    weights = [0.0] * len(encoded.token_ids)
    for step, (start, end) in zip(episode.steps, encoded.turns, strict=True):
        if not step.masked:
            weights[start:end] = turn_weights(encoded.token_ids[start:end], encoder, params)
    return Row(episode.episode_id, encoded, weights)


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
