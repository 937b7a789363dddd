"""Decoding of a batch of conversations, each of which is read once and then only continued.

An investigation comes back every turn with all that was said before. Its keys and values are kept from the turn
before, so that the model reads the new observation alone. What a turn says next is guessed, and the model checks all
guesses at once: from the first that it would not have chosen itself they are forgotten. Rows leave the batch as they
end.
"""

from collections.abc import Sequence
from itertools import accumulate, islice
from typing import Any

import numpy as np
import torch

from components.config.sampling import SamplingParams
from components.policies.batching import by_length
from components.policies.devices import made_on
from components.policies.drafts import Drafter
from components.policies.encoding import ChatEncoder, Encoded
from components.policies.kv_buffer import Buffer
from components.policies.open_turn import OpenTurn
from components.policies.prefixes import Prefix, PrefixStore
from components.policies.sampling import Chosen, choose, draws_of
from components.policies.text_layers import TextLayers

KEPT_CONVERSATIONS = 160
"""Whose keys and values are kept for their next turn."""


def can_decode(model: Any) -> bool:
    """Whether a model is of a known kind, and every layer full attention, whose past can be taken up at any token."""
    text = model.config.get_text_config()
    # Others may not tell their layers' kinds.
    return text.model_type == "qwen3_5_text" and set(text.layer_types) == {"full_attention"}


class Decoder:
    """Decodes with one model.

    Args:
        model: a `Qwen3_5ForConditionalGeneration`, on which `can_decode` holds and whose weights stay as they are.
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
        self._max_new_tokens = max_new_tokens
        self._sampling = sampling
        self._store = PrefixStore(KEPT_CONVERSATIONS, encoder.image_id)
        self._batch_size = batch_size
        with torch.inference_mode(), made_on(model.device):
            self._layers = TextLayers(model.model.language_model)
        self.tokens_read = 0
        """Tokens of prompts that the model has read; those known from earlier turns do not count."""
        self.steps = 0
        """How often the model was asked for what follows."""

    @torch.inference_mode()
    def decode(self, rows: Sequence[Encoded], seeds: Sequence[int]) -> list[list[Chosen]]:
        """The tokens that follow each conversation, in order; the stop token is the last of them, if it came."""
        drafter = Drafter(rows)
        chosen: dict[int, list[Chosen]] = {}
        with made_on(self._model.device):
            for batch in by_length(rows, self._batch_size):
                turns = self._decode([rows[at] for at in batch], [seeds[at] for at in batch], drafter)
                chosen.update(zip(batch, turns, strict=True))
        return [chosen[at] for at in range(len(rows))]

    def _decode(self, rows: Sequence[Encoded], seeds: Sequence[int], drafter: Drafter) -> list[list[Chosen]]:
        known = [self._store.take(row) for row in rows]
        buffer = self._buffer_with(rows, known)
        turns = [self._open(*one) for one in zip(rows, known, seeds, strict=True)]
        del known
        self.tokens_read += sum(len(turn.fed) for turn in turns)
        places = turns
        while going := [turn for turn in places if turn.fed]:
            if 2 * len(going) <= len(places):
                buffer.keep([place for place, turn in enumerate(places) if turn.fed])
                places = going
            self._step(places, buffer, drafter)
        return [turn.chosen for turn in turns]

    def _buffer_with(self, rows: Sequence[Encoded], known: Sequence[tuple[Prefix | None, int]]) -> Buffer:
        """Room for all that is known, read and decoded, and what is known in it."""
        config = self._model.config.get_text_config()
        capacity = max(len(row.token_ids) for row in rows) + self._max_new_tokens
        shape = (config.num_hidden_layers, len(rows), config.num_key_value_heads, capacity, config.head_dim)
        buffer = Buffer(shape, self._model.dtype, self._model.device)
        for place, (prefix, length) in enumerate(known):
            if prefix:
                buffer.put(place, prefix.keys[:, :, :length], prefix.values[:, :, :length])
        return buffer

    def _open(self, row: Encoded, known: tuple[Prefix | None, int], seed: int) -> OpenTurn:
        prefix, length = known
        behind = prefix.positions[:length] if prefix else np.zeros(0, dtype=np.int64)
        images = row.images[self._pictures_in(row, length) :]
        positions = self._positions(row.token_ids[length:], images, int(behind[-1]) if length else 0)
        return OpenTurn(row, length, behind, positions, images, draws_of(row, seed, self._max_new_tokens))

    def _pictures_in(self, row: Encoded, known: int) -> int:
        """How many pictures stand within the known tokens."""
        ends = np.cumsum([self._encoder.image_tokens(digest) for digest in row.images])
        return int(np.count_nonzero(ends <= row.token_ids[:known].count(self._encoder.image_id)))

    def _positions(self, token_ids: Sequence[int], images: Sequence[str], first: int) -> Sequence[Sequence[int]]:
        """Time, height and width of tokens from position `first` on, (3, tokens)."""
        if not images:
            return [range(first, first + len(token_ids))] * 3
        ids = torch.tensor([token_ids])
        positions = self._model.model.get_rope_index(
            ids,
            mm_token_type_ids=(ids == self._encoder.image_id).long(),
            image_grid_thw=torch.tensor([self._encoder.pixels(digest).grid for digest in images]),
        )[0]
        placed: list[list[int]] = (positions[:, 0] + first).tolist()
        return placed

    def _step(self, places: Sequence[OpenTurn], buffer: Buffer, drafter: Drafter) -> None:
        """Read what every turn feeds, take what is chosen after it, and guess what follows."""
        self.steps += 1
        draws = [draw for turn in places for draw in turn.next_draws]
        chosen = iter(choose(self._logits(places, buffer), draws, self._sampling))
        going = [(place, turn) for place, turn in enumerate(places) if turn.fed]
        for place, turn in going:
            buffer.lengths[place] += turn.take(list(islice(chosen, turn.choices)), self._encoder.stop_id)
            if turn.fed:
                turn.feed(drafter.guess(turn.text))
            else:
                self._store.put(turn.prefix(*buffer.of_row(place)))
                drafter.learn(turn.text[len(turn.row.token_ids) :])

    def _logits(self, places: Sequence[OpenTurn], buffer: Buffer) -> torch.Tensor:
        """What each turn's choices are made of, turn by turn: float32, (choices, vocabulary)."""
        buffer.expect(torch.tensor([len(turn.fed) for turn in places]))
        positions = [[at for turn in places for at in turn.positions[axis]] for axis in range(3)]
        hidden = self._layers.read(self._embed(places), torch.tensor(positions), buffer)
        ends = accumulate(len(turn.fed) for turn in places)
        chosen = [at for turn, end in zip(places, ends, strict=True) for at in range(end - turn.choices, end)]
        logits: torch.Tensor = self._model.lm_head(hidden[chosen])
        return logits.float()

    def _embed(self, places: Sequence[OpenTurn]) -> torch.Tensor:
        """Embeddings of what is fed, with pictures at their placeholders: float, (tokens, hidden size)."""
        token_ids = torch.tensor([token_id for turn in places for token_id in turn.fed])
        embeddings: torch.Tensor = self._model.get_input_embeddings()(token_ids)
        pixels = [self._encoder.pixels(digest) for turn in places for digest in turn.images]
        if pixels:
            features = self._model.model.get_image_features(
                torch.cat([picture.patches.to(token_ids.device) for picture in pixels]),
                torch.tensor([picture.grid for picture in pixels]),
            )
            embeddings[token_ids == self._encoder.image_id] = torch.cat(features.pooler_output).to(embeddings.dtype)
        return embeddings
