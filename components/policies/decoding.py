"""Greedy decoding of a batch of conversations, each of which is read once and then only continued.

An investigation comes back every turn with all that was said before. Its keys and values are kept from the turn
before, so that the model reads the new observation alone; rows leave the batch as they end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from components.policies.batching import pad_batch
from components.policies.encoding import ChatEncoder, Encoded
from components.policies.kv_buffer import Buffer
from components.policies.prefixes import Prefix, PrefixStore

KEPT_CONVERSATIONS = 160
"""Whose keys and values are kept for their next turn."""


@dataclass
class Decoded:
    """What was decoded for one conversation."""

    token_ids: list[int] = field(default_factory=list)
    """The stop token included, if it came."""
    logprobs: list[float] = field(default_factory=list)
    """Natural logarithm of each token's probability."""


def can_decode(model: Any) -> bool:
    """Whether every layer of a model is full attention, whose past can be taken up at any token."""
    return set(model.config.get_text_config().layer_types) == {"full_attention"}


class Decoder:
    """Decodes with one model.

    Args:
        model: a vision-language model of Qwen's kind, on which `can_decode` holds.
        encoder: the encoder of its conversations.
        max_new_tokens: longest turn.

    """

    def __init__(self, model: Any, encoder: ChatEncoder, max_new_tokens: int) -> None:
        self._model = model
        self._encoder = encoder
        self._max_new_tokens = max_new_tokens
        self._store = PrefixStore(KEPT_CONVERSATIONS, encoder.image_id)
        self.tokens_read = 0
        """Tokens of prompts that the model has read; those known from earlier turns do not count."""

    @torch.inference_mode()
    def decode(self, rows: Sequence[Encoded]) -> list[Decoded]:
        """The turn that follows each conversation, in order."""
        batch = _Batch(self._model, self._encoder, self._store, rows, self._max_new_tokens)
        self.tokens_read += sum(batch.unread)
        return batch.run()


class _Batch:
    """One batch. Each row's tokens that are known and those that are read are both aligned at their end."""

    def __init__(
        self, model: Any, encoder: ChatEncoder, store: PrefixStore, rows: Sequence[Encoded], max_new_tokens: int
    ) -> None:
        self._model, self._encoder, self._store, self._rows = model, encoder, store, rows
        prefixes = [store.take(row) for row in rows]
        self._known = [length for _, length in prefixes]
        self.unread = [len(row.token_ids) - known for row, known in zip(rows, self._known, strict=True)]
        self._longest_turn = max_new_tokens
        self._past, self._used = max(self._known), max(self._known) + max(self.unread)
        self._mask = torch.zeros((len(rows), self._used + max_new_tokens), dtype=torch.long)
        for mask, known, unread in zip(self._mask, self._known, self.unread, strict=True):
            mask[self._past - known : self._past] = 1
            mask[self._used - unread : self._used] = 1
        self._buffer = self._buffer_with([prefix for prefix, _ in prefixes])
        self._places = list(range(len(rows)))
        """The row at each place of the batch."""
        self._going = torch.ones(len(rows), dtype=torch.bool)
        self._positions = [self._positions_of(row) for row in rows]
        self._next_position = torch.tensor([int(positions.max()) + 1 for positions in self._positions])
        self._decoded = [Decoded() for _ in rows]

    def run(self) -> list[Decoded]:
        """Decode until every row has ended."""
        logits = self._read()
        for step in range(self._longest_turn):
            tokens = self._choose(logits)
            last = step + 1 == self._longest_turn
            self._end(self._going if last else self._going & (tokens == self._encoder.stop_id))
            if not self._going.any():
                break
            logits = self._feed(self._crowd(tokens))
        return self._decoded

    def _buffer_with(self, prefixes: Sequence[Prefix | None]) -> Buffer:
        text = self._model.config.get_text_config()
        shape = (
            text.num_hidden_layers, len(prefixes), text.num_key_value_heads, self._mask.shape[1], text.head_dim,
        )  # fmt: skip
        keys, values = (torch.zeros(shape, dtype=self._model.dtype) for _ in range(2))
        for at, (prefix, known) in enumerate(zip(prefixes, self._known, strict=True)):
            if prefix is not None:
                keys[:, at, :, self._past - known : self._past] = prefix.keys[:, :, :known]
                values[:, at, :, self._past - known : self._past] = prefix.values[:, :, :known]
        return Buffer(keys, values, self._past)

    def _positions_of(self, row: Encoded) -> torch.Tensor:
        """Time, height and width of every token, int64, (3, tokens)."""
        token_ids = torch.tensor([row.token_ids])
        grids = [self._encoder.pixels(digest).grid for digest in row.images]
        positions, _ = self._model.model.get_rope_index(
            token_ids,
            mm_token_type_ids=(token_ids == self._encoder.image_id).long(),
            image_grid_thw=torch.tensor(grids) if grids else None,
        )
        return positions[:, 0]

    def _read(self) -> torch.Tensor:
        """Logits of the first new token, (rows, vocabulary), after reading what is not known yet."""
        fresh = [
            Encoded(row.token_ids[known:], [], row.images[self._pictures_in(row, known) :])
            for row, known in zip(self._rows, self._known, strict=True)
        ]
        batch = pad_batch(fresh, self._encoder, left=True)
        positions = torch.zeros((3, len(fresh), batch["input_ids"].shape[1]), dtype=torch.long)
        for at, (row_positions, unread) in enumerate(zip(self._positions, self.unread, strict=True)):
            positions[:, at, -unread:] = row_positions[:, -unread:]
        return self._forward(**batch | {"attention_mask": self._mask[:, : self._used]}, position_ids=positions)

    def _pictures_in(self, row: Encoded, known: int) -> int:
        """How many pictures stand within the known tokens."""
        return sum(
            np.cumsum([self._encoder.image_tokens(digest) for digest in row.images])
            <= np.count_nonzero(np.asarray(row.token_ids[:known]) == self._encoder.image_id)
        )

    def _feed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits that follow one more token of every row; `tokens` is int64, (places,)."""
        self._mask[:, self._used] = self._going
        self._used += 1
        positions = self._next_position.expand(3, -1)[:, :, None]
        self._next_position = self._next_position + 1
        return self._forward(
            input_ids=tokens[:, None], attention_mask=self._mask[:, : self._used], position_ids=positions
        )

    def _forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        hidden = self._model.model(**inputs, cache=self._buffer, use_cache=True).last_hidden_state
        logits: torch.Tensor = self._model.lm_head(hidden[:, -1]).float()
        return logits

    def _choose(self, logits: torch.Tensor) -> torch.Tensor:
        """The likeliest token at each place, noted for the rows that have not ended."""
        logprobs, tokens = torch.log_softmax(logits, dim=-1).max(dim=-1)
        chosen = zip(self._places, self._going.tolist(), tokens.tolist(), logprobs.tolist(), strict=True)
        for row, going, token, logprob in chosen:
            if going:
                self._decoded[row].token_ids.append(token)
                self._decoded[row].logprobs.append(logprob)
        return tokens

    def _end(self, ended: torch.Tensor) -> None:
        """Keep what is known of rows that end here; `ended` is bool, (places,)."""
        for place in torch.nonzero(ended).flatten().tolist():
            row = self._rows[self._places[place]]
            # The last token has been chosen and not read.
            token_ids = np.array([*row.token_ids, *self._decoded[self._places[place]].token_ids[:-1]])
            keys, values = self._buffer.of_row(place, torch.nonzero(self._mask[place, : self._used]).flatten())
            self._store.put(Prefix(token_ids, tuple(row.images), keys, values))
        self._going = self._going & ~ended

    def _crowd(self, tokens: torch.Tensor) -> torch.Tensor:
        """Give up the places of rows that have ended, once they are half of all."""
        if 2 * int(self._going.sum()) > len(self._places):
            return tokens
        kept = torch.nonzero(self._going).flatten()
        self._buffer.keep(kept)
        self._places = [self._places[place] for place in kept.tolist()]
        self._mask, self._next_position = self._mask[kept], self._next_position[kept]
        self._going = self._going[kept]
        return tokens[kept]
