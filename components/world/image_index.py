"""Reverse image search: pictures that look like a picture, from a perceptual hash and a small embedding.

The embedding is the layout of colours that stand out from their ground. Two renderings of one scene put the same
colours in the same places, whatever their grounds, grain and lettering; sums of absolute differences forgive one part
that is different, such as another person.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from components.storage.atomic import write_bytes

VERSION = "2"
"""Of the features; part of the cache's name."""
_GRID = (16, 12)
"""Cells of the layout, across and down."""
_CELL = 4
"""Pixels of a cell's side when colours are measured."""
_GROUND = 30.0
"""Colours nearer to the ground than this do not stand out; grey levels."""
_HASH_WEIGHT = 0.05
_MAX_PIXELS = 64_000_000


class Features(NamedTuple):
    """What is compared."""

    phash: np.ndarray
    """bool, (64,)."""
    layout: np.ndarray
    """complex64, (cells,): mean colour of each cell relative to the ground; its two opponent axes as one number."""


@dataclass(frozen=True)
class Match:
    """A picture of the index and how far it is from the one searched for: 0 is the same, 1 has nothing in common."""

    position: int
    distance: float


def features(data: bytes) -> Features:
    """The features of an encoded picture; raises OSError or ValueError when it cannot be decoded, or is too large."""
    import imagehash

    opened = Image.open(io.BytesIO(data))
    if opened.width * opened.height > _MAX_PIXELS:
        raise ValueError(f"a picture of {opened.width} x {opened.height} pixels is too large to compare")
    image = opened.convert("RGB")
    return Features(imagehash.phash(image).hash.reshape(-1).astype(bool), _layout(image))


def _layout(image: Image.Image) -> np.ndarray:
    across, down = _GRID
    small = image.resize((across * _CELL, down * _CELL), Image.Resampling.BOX)
    red, green, blue = np.moveaxis(np.asarray(small, dtype=np.float32), -1, 0)
    colour = np.stack([red - green, (red + green) / 2 - blue], axis=-1)
    colour -= np.median(colour.reshape(-1, 2), axis=0)
    strength = np.linalg.norm(colour, axis=-1, keepdims=True)
    colour *= np.maximum(strength - _GROUND, 0) / np.maximum(strength, 1e-6)
    cells = colour.reshape(down, _CELL, across, _CELL, 2).mean(axis=(1, 3))
    return (cells[..., 0] + 1j * cells[..., 1]).reshape(-1).astype(np.complex64)


class ImageIndex:
    """Pictures by their looks.

    Args:
        digests: SHA-256 of each picture.
        read: gives a picture's encoded bytes.
        cache: where features are kept between processes, by hash; None keeps none.

    """

    def __init__(self, digests: Sequence[str], read: Callable[[str], bytes], cache: Path | None = None) -> None:
        known = _load(cache) if cache else {}
        missing = sorted(set(digests) - known.keys())
        known.update((digest, features(read(digest))) for digest in missing)
        if cache and missing:
            _save(cache, known)
        ordered = [known[digest] for digest in digests]
        self._hashes = np.array([item.phash for item in ordered], dtype=bool).reshape(-1, 64)
        self._layouts = np.array([item.layout for item in ordered], dtype=np.complex64).reshape(-1, _GRID[0] * _GRID[1])
        self._masses = np.abs(self._layouts).sum(axis=1)

    def search(self, query: Features, limit: int, reach: float) -> list[Match]:
        """The nearest pictures no further away than `reach`, nearest first; earlier wins a tie."""
        if not len(self._hashes):
            return []
        distances = self.distances(query)
        nearest = np.argsort(distances, kind="stable")[:limit]
        return [Match(int(at), float(distances[at])) for at in nearest if distances[at] <= reach]

    def distances(self, query: Features) -> np.ndarray:
        """How far each picture is, float, (pictures,)."""
        hamming = (self._hashes != query.phash).mean(axis=1)
        apart = np.abs(self._layouts - query.layout).sum(axis=1)
        together = self._masses + np.abs(query.layout).sum()
        return (1 - _HASH_WEIGHT) * apart / np.maximum(together, 1e-6) + _HASH_WEIGHT * hamming


def _cache_file(cache: Path) -> Path:
    return cache / f"lens-{VERSION}.npz"


def _load(cache: Path) -> dict[str, Features]:
    """Features by hash; empty when there is no cache yet."""
    file = _cache_file(cache)
    if not file.exists():
        return {}
    with np.load(file) as stored:
        rows = zip(stored["digests"].tolist(), stored["hashes"], stored["layouts"], strict=True)
        return {digest: Features(phash, layout) for digest, phash, layout in rows}


def _save(cache: Path, known: dict[str, Features]) -> None:
    digests = sorted(known)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        digests=np.array(digests),
        hashes=np.array([known[digest].phash for digest in digests]),
        layouts=np.array([known[digest].layout for digest in digests]),
    )
    write_bytes(_cache_file(cache), buffer.getvalue())
