"""Decoding by Transformers' own `generate`, which reads every conversation from its beginning.

A model with recurrent layers has to: what they keep of a conversation cannot be taken up in its middle.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers import GenerationConfig

from components.config.sampling import SamplingParams
from components.policies.batching import by_length, pad_batch
from components.policies.encoding import ChatEncoder, Encoded
from components.policies.sampling import Chosen, choose, draws_of


class Rereader:
    """Decodes with one model.

    Args:
        model: a vision-language model of Qwen's kind.
        encoder: the encoder of its conversations.
        max_new_tokens: longest turn.
        sampling: how tokens are chosen.
        batch_size: conversations decoded at once.

    """

    def __init__(
        self, model: Any, encoder: ChatEncoder, max_new_tokens: int, sampling: SamplingParams, batch_size: int
    ) -> None:
        self._model = model
        self._encoder = encoder
        self._sampling = sampling
        self._batch_size = batch_size
        self._config = GenerationConfig(
            max_new_tokens=max_new_tokens,
            do_sample=False,
            eos_token_id=encoder.stop_id,
            pad_token_id=encoder.tokenizer.pad_token_id,
        )

    @torch.inference_mode()
    def decode(self, rows: Sequence[Encoded], seeds: Sequence[int]) -> list[list[Chosen]]:
        """The tokens that follow each conversation, in order; the stop token is the last of them, if it came."""
        chosen: dict[int, list[Chosen]] = {}
        for batch in by_length(rows, self._batch_size):
            turns = self._decode([rows[at] for at in batch], [seeds[at] for at in batch])
            chosen.update(zip(batch, turns, strict=True))
        return [chosen[at] for at in range(len(rows))]

    def _decode(self, rows: Sequence[Encoded], seeds: Sequence[int]) -> list[list[Chosen]]:
        count = self._config.max_new_tokens
        draws = [draws_of(row, seed, count) for row, seed in zip(rows, seeds, strict=True)]
        choosing = _Choosing(list(zip(*draws, strict=True)), self._sampling)
        batch = {name: part.to(self._model.device) for name, part in pad_batch(rows, self._encoder, left=True).items()}
        with _own_settings_aside(self._model):
            self._model.generate(**batch, generation_config=self._config, logits_processor=[choosing])
        return [_ended(list(chosen), self._encoder.stop_id) for chosen in zip(*choosing.steps, strict=True)]


class _Choosing:
    """Chooses the token of every row, and leaves it as the only one that can follow."""

    def __init__(self, draws: Sequence[Sequence[float]], sampling: SamplingParams) -> None:
        self.steps: list[list[Chosen]] = []
        self._draws = draws
        """(steps, rows)."""
        self._sampling = sampling

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        chosen = choose(scores, self._draws[len(self.steps)], self._sampling)
        self.steps.append(chosen)
        token_ids = torch.tensor([[one.token_id] for one in chosen], device=scores.device)
        return torch.full_like(scores, -torch.inf).scatter_(1, token_ids, 0.0)


@contextmanager
def _own_settings_aside(model: Any) -> Iterator[None]:
    """A model's folder may bring settings of its own, which would stand in for whatever is not set."""
    own, model.generation_config = model.generation_config, GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = own


def _ended(chosen: list[Chosen], stop_id: int) -> list[Chosen]:
    stops = (at for at, one in enumerate(chosen, 1) if one.token_id == stop_id)
    return chosen[: next(stops, len(chosen))]
