"""Near-duplicates among many pictures: a perceptual hash proposes, a small thumbnail confirms.

Two cases of one event share their composition, so that their hashes can be near; a detail that differs shows in one
cell of the thumbnail. A copy that was encoded, scaled or brightened differs a little everywhere and nowhere much.

Lookups do not go through what is stored. By the pigeonhole principle two hashes that differ in at most `RADIUS` bits
agree in at least one of `RADIUS` + 1 disjoint groups of bits, and each group is looked up in a table.
"""

from collections import defaultdict
from typing import NamedTuple

import imagehash
import numpy as np
from numpy.typing import NDArray
from PIL import Image

RADIUS = 10
"""Most bits of 256 in which hashes of duplicates differ. Copies brightened by 8 % need 10; scaled ones 4."""
_SIDE = 16
"""Side of the hash."""
_CELLS = (32, 24)
"""Cells of the thumbnail, across and down."""
_APART = 0.6
"""Most that a cell of duplicates differs, in standard deviations of the picture. Copies brightened by 15 % come to
0.65, other scenes of one event with the same lettering to no less than 0.69."""
_ROOM = 1024


class Looks(NamedTuple):
    """What is compared."""

    bits: NDArray[np.bool_]
    """Perceptual hash, (256,)."""
    thumb: NDArray[np.uint8]
    """Mean colour of each cell, RGB, (down, across, 3)."""


def looks(image: Image.Image) -> Looks:
    """Hash and thumbnail of a picture."""
    bits = imagehash.phash(image, hash_size=_SIDE).hash.ravel()
    return Looks(bits, np.asarray(image.convert("RGB").resize(_CELLS, Image.Resampling.BOX)))


def alike(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> bool:
    """Whether two thumbnails are of one picture: no cell differs much, brightness and contrast set aside."""
    return bool(np.abs(_standard(first) - _standard(second)).max() <= _APART)


def _standard(thumb: NDArray[np.uint8]) -> NDArray[np.float32]:
    values = thumb.astype(np.float32)
    return (values - values.mean()) / max(float(values.std()), 1e-6)


class HashIndex:
    """Hashes by position, in the order in which they were added.

    Args:
        size: bits of a hash.
        radius: hashes that differ in at most so many bits are found.

    """

    def __init__(self, size: int = _SIDE**2, radius: int = RADIUS) -> None:
        groups = radius + 1
        self._radius = radius
        # Neighbouring bits go together in pictures; taken in turn they are spread over the groups.
        self._weights = np.zeros((size, groups), np.int64)
        self._weights[np.arange(size), np.arange(size) % groups] = 1 << (np.arange(size) // groups)
        self._tables: list[dict[int, list[int]]] = [defaultdict(list) for _ in range(groups)]
        self._rows = np.zeros((_ROOM, -(-size // 8)), np.uint8)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, bits: NDArray[np.bool_]) -> int:
        """Store a hash; returns its position."""
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        position = self._count
        self._rows[position] = np.packbits(bits)
        for table, key in zip(self._tables, self._keys(bits), strict=True):
            table[key].append(position)
        self._count += 1
        return position

    def near(self, bits: NDArray[np.bool_]) -> list[int]:
        """Positions of all stored hashes within the radius, in order; none is missed."""
        proposed: set[int] = set()
        for table, key in zip(self._tables, self._keys(bits), strict=True):
            if key in table:
                proposed.update(table[key])
        if not proposed:
            return []
        positions = np.array(sorted(proposed))
        differing = np.bitwise_count(self._rows[positions] ^ np.packbits(bits)).sum(axis=1)
        near: list[int] = positions[differing <= self._radius].tolist()
        return near

    def _keys(self, bits: NDArray[np.bool_]) -> list[int]:
        keys: list[int] = (bits @ self._weights).tolist()
        return keys


class Duplicates:
    """Pictures by position, in the order in which they were added, and which of them a picture is a copy of."""

    def __init__(self) -> None:
        self._hashes = HashIndex()
        self._thumbs: list[NDArray[np.uint8]] = []

    def add(self, seen: Looks) -> int:
        """Remember a picture; returns its position."""
        self._thumbs.append(seen.thumb)
        return self._hashes.add(seen.bits)

    def of(self, seen: Looks) -> list[int]:
        """Positions of the pictures that this one is a near-duplicate of, in order."""
        return [at for at in self._hashes.near(seen.bits) if alike(self._thumbs[at], seen.thumb)]
