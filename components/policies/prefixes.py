"""Keys and values of conversations that were read before, so that the next turn reads only what is new."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from components.policies.encoding import Encoded

if TYPE_CHECKING:
    import torch


class Prefix(NamedTuple):
    """What attention keeps of the beginning of a conversation."""

    token_ids: np.ndarray
    """int64, (tokens,)."""
    images: tuple[str, ...]
    """SHA-256 of the pictures among them."""
    positions: np.ndarray
    """int64, (tokens,): of what would follow each token; a picture takes fewer than it has tokens."""
    keys: "torch.Tensor"
    """float, (layers, heads, tokens, head width)."""
    values: "torch.Tensor"
    """Of the same shape."""


class PrefixStore:
    """The latest beginnings, found by their first picture and by what they have in common with a new conversation.

    Args:
        capacity: beginnings kept; the one that was put in first is dropped first.
        image_id: the id that stands for a picture's features.

    """

    def __init__(self, capacity: int, image_id: int) -> None:
        self._capacity = capacity
        self._image_id = image_id
        self._kept: list[Prefix] = []

    def __len__(self) -> int:
        """How many beginnings are kept."""
        return len(self._kept)

    def take(self, row: Encoded) -> tuple[Prefix | None, int]:
        """The beginning that covers most of `row`, and how many of its tokens hold for `row`.

        At least one token of `row` is left to be read, and no picture is cut in two. A beginning that holds in full is
        no longer kept: what comes of `row` will be put in its place.
        """
        token_ids = np.asarray(row.token_ids)
        alike = [prefix for prefix in self._kept if prefix.images[:1] == tuple(row.images[:1])]
        lengths = [self._common(prefix, token_ids, row.images) for prefix in alike]
        if not any(lengths):
            return None, 0
        longest = max(lengths)
        best = alike[lengths.index(longest)]
        if longest == len(best.token_ids):
            self._kept = [prefix for prefix in self._kept if prefix is not best]
        return best, longest

    def put(self, prefix: Prefix) -> None:
        """Keep a beginning."""
        self._kept = [*self._kept, prefix][-self._capacity :]

    def _common(self, prefix: Prefix, token_ids: np.ndarray, images: Sequence[str]) -> int:
        limit = min(len(prefix.token_ids), len(token_ids) - 1)
        different = np.flatnonzero(prefix.token_ids[:limit] != token_ids[:limit])
        length = int(different[0]) if len(different) else limit
        is_image = token_ids == self._image_id
        starts = np.flatnonzero(is_image & ~np.roll(is_image, 1))
        for start, ours, theirs in zip(starts, images, (*prefix.images, *[""] * len(images)), strict=False):
            if start < length and ours != theirs:
                return int(start)
        if is_image[length] and length and is_image[length - 1]:
            length = int(starts[starts < length][-1])
        return length
