"""What is remembered of a picture for reverse search: a perceptual hash and a thumbnail, kept by the picture's hash.

The thumbnail is the embedding: from it follow the layout of colours that stand out from their ground, which two
renderings of one scene have in common, and the appearance, which copies of one file have in common.
"""

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from components.storage.atomic import write_bytes

VERSION = "3"
"""Of the features; part of the cache's name."""
FRAME = (40, 30)
"""Cells of a thumbnail, across and down, whatever the picture's shape."""
_GROUND = 30.0
"""Colours nearer to the ground than this do not stand out; grey levels."""
_MAX_PIXELS = 64_000_000


class Features(NamedTuple):
    """What is compared."""

    phash: NDArray[np.uint8]
    """The 64 bits of the perceptual hash, packed, (8,)."""
    thumb: NDArray[np.uint8]
    """Mean colour of each cell, RGB, (down, across, 3)."""


def features(data: bytes) -> Features:
    """The features of an encoded picture; raises OSError or ValueError when it cannot be decoded, or is too large."""
    import imagehash

    opened = Image.open(io.BytesIO(data))
    if opened.width * opened.height > _MAX_PIXELS:
        raise ValueError(f"a picture of {opened.width} x {opened.height} pixels is too large to compare")
    image = opened.convert("RGB")
    bits = imagehash.phash(image).hash.reshape(-1)
    return Features(np.packbits(bits), np.asarray(image.resize(FRAME, Image.Resampling.BOX)))


def colours(thumbs: NDArray[np.uint8]) -> NDArray[np.float32]:
    """What stands out: each cell's two opponent colours relative to the ground, nought where they are near it.

    Args:
        thumbs: of shape (..., down, across, 3).

    Returns:
        Red against green and yellow against blue, grey levels, (..., down, across, 2).

    """
    red, green, blue = np.moveaxis(thumbs.astype(np.float32), -1, 0)
    colour = np.stack([red - green, (red + green) / 2 - blue], axis=-1)
    colour -= np.median(colour, axis=(-3, -2), keepdims=True)
    strength = np.linalg.norm(colour, axis=-1, keepdims=True)
    colour *= np.maximum(strength - _GROUND, 0) / np.maximum(strength, 1e-6)
    return colour


def load(cache: Path) -> dict[str, Features]:
    """Features by hash; empty when there is no cache yet."""
    file = cache_file(cache)
    if not file.exists():
        return {}
    with np.load(file) as stored:
        rows = zip(stored["digests"].tolist(), stored["hashes"], stored["thumbs"], strict=True)
        return {digest: Features(phash, thumb) for digest, phash, thumb in rows}


def save(cache: Path, known: dict[str, Features]) -> None:
    """Write features by hash, whole or not at all."""
    digests = sorted(known)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        digests=np.array(digests),
        hashes=np.array([known[digest].phash for digest in digests]),
        thumbs=np.array([known[digest].thumb for digest in digests]),
    )
    write_bytes(cache_file(cache), buffer.getvalue())


def cache_file(cache: Path) -> Path:
    """Where features of this version lie."""
    return cache / f"lens-{VERSION}.npz"
