"""Choosing tokens: the likeliest, or one drawn with a random number that belongs to its place in the turn.

A turn's random numbers follow from its seed and its prompt, and a token from its number and its distribution alone. So
what is sampled does not depend on what else is decoded, in which order, or how many tokens at a time.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from components.config.sampling import SamplingParams
from components.policies.encoding import Encoded


class Chosen(NamedTuple):
    """One token."""

    token_id: int
    logprob: float
    """Natural logarithm of its probability at temperature 1 without bounds, as `candidates` have it."""
    candidates: tuple[tuple[int, float], ...]
    """The likeliest ids and their log-probabilities, likeliest first."""


def draws_of(row: Encoded, seed: int, count: int) -> list[float]:
    """The random numbers of a turn's tokens, in [0, 1).

    They follow from the seed, the length of the prompt and its pictures, so that neither two turns of an investigation
    nor two investigations with one seed share them.
    """
    name = f"{seed} {len(row.token_ids)} {' '.join(row.images)}"
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "little")
    draws: list[float] = np.random.Generator(np.random.Philox(key=key)).random(count).tolist()
    return draws


def choose(logits: torch.Tensor, draws: Sequence[float], params: SamplingParams) -> list[Chosen]:
    """A token for each place; `logits` is float32, (places, vocabulary)."""
    token_ids = pick(logits, torch.tensor(draws, dtype=torch.float64, device=logits.device), params)
    logprobs = torch.log_softmax(logits, dim=-1)
    chosen = logprobs.gather(1, token_ids[:, None])[:, 0].tolist()
    likeliest = logprobs.topk(min(params.top_logprobs, logits.shape[1]), dim=-1)
    candidates = [
        tuple(zip(ids, values, strict=True))
        for ids, values in zip(likeliest.indices.tolist(), likeliest.values.tolist(), strict=True)
    ]
    return [Chosen(*one) for one in zip(token_ids.tolist(), chosen, candidates, strict=True)]


def pick(logits: torch.Tensor, draws: torch.Tensor, params: SamplingParams) -> torch.Tensor:
    """The id at each place, int64, (places,); `draws` is float64, of the same shape."""
    if params.temperature == 0:
        return logits.argmax(dim=-1)
    # In the order of ids, where rounding moves a bound by a hair; in that of probabilities it would swap neighbours.
    upto = _shares(logits.double() / params.temperature, params).cumsum(dim=-1)
    whole = upto[:, -1:]
    below = torch.nextafter(whole, torch.zeros_like(whole))
    return torch.searchsorted(upto, torch.minimum(draws[:, None] * whole, below), right=True)[:, 0]


def _shares(logits: torch.Tensor, params: SamplingParams) -> torch.Tensor:
    """Probabilities, of which those out of bounds are zero; they need not add up to one."""
    shares = torch.softmax(logits, dim=-1)
    if params.top_k or params.top_p < 1:
        ranked, order = shares.sort(dim=-1, descending=True, stable=True)
        if params.top_k:
            ranked[:, params.top_k :] = 0
        before = ranked.cumsum(dim=-1) - ranked
        outside = before >= params.top_p * ranked.sum(dim=-1, keepdim=True)
        outside[:, 0] = False
        shares = torch.zeros_like(shares).scatter_(1, order, ranked.masked_fill(outside, 0))
    return shares.masked_fill(shares < params.min_p * shares.max(dim=-1, keepdim=True).values, 0)
