"""Reverse image search: pictures that look like a picture, from a perceptual hash and a small embedding.

The embedding is a grid of edge directions and a coarse grid of colours: it follows the composition of a picture rather
than its texture, so that another rendering of the same scene is near, and another scene is not.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from components.storage.atomic import write_bytes

VERSION = "1"
"""Of the features; part of the cache's name."""
_SIZE = (96, 72)
"""Width and height at which edges are measured, pixels."""
_CELL = 8
_DIRECTIONS = 6
_COLOUR_GRID = (8, 6)
_COLOUR_WEIGHT = 0.5
_HASH_WEIGHT = 0.5


class Features(NamedTuple):
    """What is compared."""

    phash: np.ndarray
    """bool, (64,)."""
    vector: np.ndarray
    """float32, (n,), unit length in each of its two parts."""


@dataclass(frozen=True)
class Match:
    """A picture of the index and how far it is from the one searched for, 0 (the same) to about 2."""

    position: int
    distance: float


def features(data: bytes) -> Features:
    """The features of an encoded picture; raises OSError or ValueError when it cannot be decoded."""
    import imagehash

    image = Image.open(io.BytesIO(data)).convert("RGB")
    phash = imagehash.phash(image).hash.reshape(-1)
    small = image.resize(_SIZE, Image.Resampling.BILINEAR)
    colours = np.asarray(small.resize(_COLOUR_GRID, Image.Resampling.BOX), dtype=np.float32).reshape(-1) / 255
    vector = np.concatenate([_unit(_edges(small)), _COLOUR_WEIGHT * _unit(colours - colours.mean())])
    return Features(phash.astype(bool), vector.astype(np.float32))


def _edges(image: Image.Image) -> np.ndarray:
    """Histograms of edge directions, one per cell, float32, (cells x directions,)."""
    grey = np.asarray(image.convert("L"), dtype=np.float32)
    vertical, horizontal = np.gradient(grey)
    strength = np.sqrt(np.hypot(vertical, horizontal))
    direction = (np.arctan2(vertical, horizontal) % np.pi) / np.pi * _DIRECTIONS
    bins = np.minimum(direction.astype(int), _DIRECTIONS - 1)
    rows, columns = grey.shape[0] // _CELL, grey.shape[1] // _CELL
    row = np.arange(grey.shape[0])[:, None] // _CELL
    column = np.arange(grey.shape[1])[None, :] // _CELL
    flat = ((row * columns + column) * _DIRECTIONS + bins).reshape(-1)
    return np.bincount(flat, strength.reshape(-1), minlength=rows * columns * _DIRECTIONS)


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


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
        self._hashes = np.array([item.phash for item in ordered], dtype=bool).reshape(len(ordered), -1)
        self._vectors = np.array([item.vector for item in ordered], dtype=np.float32).reshape(len(ordered), -1)

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
        cosine = 1 - self._vectors @ query.vector / float(query.vector @ query.vector)
        return _HASH_WEIGHT * hamming + cosine


def _cache_file(cache: Path) -> Path:
    return cache / f"lens-{VERSION}.npz"


def _load(cache: Path) -> dict[str, Features]:
    """Features by hash; empty when there is no cache yet."""
    file = _cache_file(cache)
    if not file.exists():
        return {}
    with np.load(file) as stored:
        rows = zip(stored["digests"].tolist(), stored["hashes"], stored["vectors"], strict=True)
        return {digest: Features(phash, vector) for digest, phash, vector in rows}


def _save(cache: Path, known: dict[str, Features]) -> None:
    digests = sorted(known)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        digests=np.array(digests),
        hashes=np.array([known[digest].phash for digest in digests]),
        vectors=np.array([known[digest].vector for digest in digests]),
    )
    write_bytes(_cache_file(cache), buffer.getvalue())
