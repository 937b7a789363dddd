"""From conversation to token ids and pixels: the one place where either is made, for serving and for training alike.

The chat template renders the text around the assistant's turns; the turns themselves keep the ids that were sampled.
A turn without ids (a scripted teacher's), or with ids of another vocabulary (a served teacher's), is encoded once, by
itself. So no sampled id is ever decoded and encoded again, none is taken for another word, and a turn's prompt is a
prefix of every row in which the turn stands whole.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from components.errors import EviflowError
from components.policies.layout import Slot, harmless, lay_out, slot_text
from components.policies.tokens import IM_END, IMAGE_PAD
from components.policies.vocabulary import vocabulary_of
from components.records.conversation import Message, ToolSchema
from components.records.image_bank import ImageBank

if TYPE_CHECKING:
    import torch

CACHED_CHUNKS = 20_000
"""Pieces of text whose ids are kept: those of a few thousand episodes."""


@dataclass(frozen=True)
class Encoded:
    """One conversation as a model reads it."""

    token_ids: list[int]
    """Every picture's placeholder repeated once per feature."""
    turns: list[tuple[int, int]]
    """Start and end (exclusive, stop token included) of each assistant turn in `token_ids`."""
    images: list[str]
    """SHA-256 of the pictures, in order of their placeholders."""
    thoughtless: int = 0
    """How many of `turns`, the first ones, lack their thoughts, which the template left out: never to be learned."""


@dataclass(frozen=True)
class Pixels:
    """One picture as the vision tower reads it."""

    patches: "torch.Tensor"
    """float32, (patches, channels x temporal patch x patch x patch)."""
    grid: tuple[int, int, int]
    """Temporal, vertical and horizontal number of patches."""


class ChatEncoder:
    """Encodes conversations with one tokenizer and one image processor.

    Args:
        tokenizer: a Hugging Face tokenizer with a chat template and Qwen's structure tokens.
        image_processor: a Qwen2-VL image processor that needs no torchvision.
        bank: where the pictures named in messages are found.

    """

    def __init__(self, tokenizer: Any, image_processor: Any, bank: ImageBank) -> None:
        self.tokenizer = tokenizer
        self._processor = image_processor
        self._bank = bank
        self._pixels: dict[str, Pixels] = {}
        self._grids: dict[str, tuple[int, int, int]] = {}
        self._ids_of = lru_cache(CACHED_CHUNKS)(partial(tokenizer.encode, add_special_tokens=False))
        self._opening: dict[str, frozenset[int]] = {}
        self.vocabulary = vocabulary_of(tokenizer)
        """Only ids of this vocabulary are taken as they are."""
        self.stop_id: int = tokenizer.convert_tokens_to_ids(IM_END)
        self.image_id: int = tokenizer.convert_tokens_to_ids(IMAGE_PAD)
        self.merge_size: int = image_processor.merge_size

    def encode(self, messages: Sequence[Message], tools: Sequence[ToolSchema], *, prompt: bool) -> Encoded:
        """Encode a conversation; with `prompt`, the opening of the next assistant turn follows."""
        token_ids: list[int] = []
        turns: list[tuple[int, int]] = []
        slots: list[Slot] = []
        for piece in lay_out(self.tokenizer, messages, tools, prompt=prompt):
            if isinstance(piece, Slot):
                turn = self._slot_ids(messages[piece.position], piece)
                turns.append((len(token_ids), len(token_ids) + len(turn)))
                slots.append(piece)
                token_ids.extend(turn)
            else:
                # A turn brings what ends it along, unless it was cut off: then the template's own stands.
                ended = bool(slots) and token_ids[-1:] == [self.stop_id]
                token_ids.extend(self._encode_chunk(piece.removeprefix(IM_END) if ended else piece))
        images = [digest for message in messages for digest in message.images]
        thoughtless = sum(not slot.whole for slot in slots)
        return Encoded(self._expand(token_ids, turns, images), turns, images, thoughtless)

    def _slot_ids(self, message: Message, slot: Slot) -> list[int]:
        """The ids of an assistant turn in its slot: as sampled, or encoded here and closed with the stop token."""
        if message.token_ids is None or message.vocabulary != self.vocabulary:
            return [*self._encode_chunk(slot_text(harmless(message.text), slot)), self.stop_id]
        return list(message.token_ids if slot.whole else self._after_thought(message.token_ids))

    def _after_thought(self, token_ids: Sequence[int]) -> Sequence[int]:
        """The sampled ids behind the thought and the line breaks that follow it."""
        texts = [self.tokenizer.decode([token]) for token in token_ids]
        closing = next((at for at, text in enumerate(texts) if "</think>" in text), -1)
        start = next((at for at in range(closing + 1, len(texts)) if texts[at].strip()), len(texts))
        return token_ids[start:]

    def ids_opening(self, tag: str) -> frozenset[int]:
        """Ids of the structure tokens that begin with `tag`."""
        if tag not in self._opening:
            added = self.tokenizer.get_added_vocab()
            self._opening[tag] = frozenset(token_id for token, token_id in added.items() if token.startswith(tag))
        return self._opening[tag]

    def pixels(self, digest: str) -> Pixels:
        """The processed picture; computed once per encoder."""
        if digest not in self._pixels:
            features = self._processor(images=[self._bank.open(digest)], return_tensors="pt")
            temporal, height, width = (int(size) for size in features["image_grid_thw"][0])
            self._pixels[digest] = Pixels(features["pixel_values"], (temporal, height, width))
            self._grids[digest] = (temporal, height, width)
        return self._pixels[digest]

    def grid(self, digest: str) -> tuple[int, int, int]:
        """Temporal, vertical and horizontal number of patches of a picture; outlasts `drop_pixels`."""
        return self._grids[digest] if digest in self._grids else self.pixels(digest).grid

    def image_tokens(self, digest: str) -> int:
        """How many features, hence placeholders, a picture has."""
        temporal, height, width = self.grid(digest)
        return temporal * height * width // self.merge_size**2

    def drop_pixels(self) -> None:
        """Forget the processed pictures, for who wants to know their grids alone."""
        self._pixels.clear()

    def _encode_chunk(self, text: str) -> list[int]:
        return list(self._ids_of(text))

    def _expand(self, token_ids: list[int], turns: list[tuple[int, int]], images: list[str]) -> list[int]:
        placeholders = [index for index, token in enumerate(token_ids) if token == self.image_id]
        inside_turn = any(start <= index < end for index in placeholders for start, end in turns)
        if inside_turn or len(placeholders) != len(images):
            raise EviflowError(
                f"a conversation has {len(placeholders)} picture placeholders for {len(images)} pictures; "
                "its chat template must render every picture of every role, and a turn may not contain one"
            )
        sizes = [self.image_tokens(digest) for digest in images]
        expanded: list[int] = []
        begin = 0
        for at, size in zip(placeholders, sizes, strict=True):
            expanded += token_ids[begin:at] + [self.image_id] * size
            begin = at + 1

        def shifted(index: int) -> int:
            pictures = bisect_left(placeholders, index)
            return index + sum(sizes[:pictures]) - pictures

        turns[:] = [(shifted(start), shifted(end)) for start, end in turns]
        return expanded + token_ids[begin:]
