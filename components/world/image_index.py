"""Reverse image search: the pictures that look like a picture, were it cut, covered in part, or drawn anew.

First every picture is compared coarsely with the searched one in every place that this might have in it: the whole, a
window of it, the whole but for a strip above or below. Then the few best are compared closely. The layout of colours
that stand out decides, which other grounds, grain and lettering leave alone; sums of absolute differences forgive one
part that is different, such as another person. How alike the two are cell by cell tells copies from mere likeness.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from components.world.image_features import FRAME, Features, colours, features, load, save

_POOL = 2
"""Cells of the frame along one side of a coarse cell."""
_CELLS = FRAME[0] * FRAME[1] // _POOL**2
"""Coarse cells of a picture."""
_STEP = 2
"""Cells between neighbouring windows in the coarse comparison; the close one looks at those in between."""
_SCALES = (0.9, 0.8)
"""Sides of windows, as shares of the frame's."""
_STRIP = 0.2
"""Height of a strip that may cover the picture, as a share of it."""
_GREY = 0.2
"""Weight of brightness in the coarse comparison, in which colours decide where there are any."""
_FAINT = 0.5
"""Mean strength of two layouts together below which they say nothing, grey levels a value."""
_SHORTLIST = 24
"""Pictures that each coarse comparison sends to the close one."""
_BATCH = 512
_BESIDE = np.array([(down, right) for down in (0, -1, 1) for right in (0, -1, 1)])
"""By how many cells a window is moved in the close comparison."""

Layouts = NDArray[np.float32]
Thumbs = NDArray[np.uint8]


@dataclass(frozen=True)
class Match:
    """A picture of the index and how far it is from the one searched for: 0 is the same, 1 has nothing in common."""

    position: int
    distance: float


class _Place(NamedTuple):
    """Where in a stored picture the searched one may lie; cells of the frame."""

    left: int
    top: int
    size: tuple[int, int]
    """Across and down."""
    rows: slice
    """Of the searched picture at that size: those that are compared; others are covered."""


def _windows(scale: float) -> Iterator[_Place]:
    across, down = round(FRAME[0] * scale), round(FRAME[1] * scale)
    for left in range(0, FRAME[0] - across + 1, _STEP):
        for top in range(0, FRAME[1] - down + 1, _STEP):
            yield _Place(left, top, (across, down), slice(0, down))


_COVERED = round(FRAME[1] * _STRIP)
_WHOLES = [
    _Place(0, 0, FRAME, rows) for rows in (slice(0, FRAME[1]), slice(_COVERED, FRAME[1]), slice(0, FRAME[1] - _COVERED))
]
_KINDS = [_WHOLES, *(list(_windows(scale)) for scale in _SCALES)]
"""Every place, by size."""


class ImageIndex:
    """Pictures by their looks; each has the position of its features in `pictures`."""

    def __init__(self, pictures: Sequence[Features]) -> None:
        self._hashes = np.array([item.phash for item in pictures], dtype=np.uint8).reshape(-1, 8)
        self._thumbs = np.array([item.thumb for item in pictures], dtype=np.uint8).reshape(-1, FRAME[1], FRAME[0], 3)
        coarse = [_pooled(_channels(self._thumbs[at : at + _BATCH])) for at in range(0, len(pictures), _BATCH)]
        cells = np.concatenate(coarse) if coarse else np.zeros((0, _CELLS, 3), np.float32)
        self._energy = np.square(cells).sum(axis=-1)
        self._coarse = cells.reshape(len(cells), 3 * _CELLS)
        self._layouts = cells[..., :2].reshape(len(cells), 2 * _CELLS)
        self._masses = np.abs(self._layouts).sum(axis=1)

    @classmethod
    def over(cls, digests: Sequence[str], read: Callable[[str], bytes], cache: Path | None = None) -> "ImageIndex":
        """An index over encoded pictures.

        Args:
            digests: SHA-256 of each picture.
            read: gives a picture's encoded bytes.
            cache: where features are kept between processes, by hash; None keeps none.

        """
        known = load(cache) if cache else {}
        missing = sorted(set(digests) - known.keys())
        known.update((digest, features(read(digest))) for digest in missing)
        if cache and missing:
            save(cache, known)
        return cls([known[digest] for digest in digests])

    @property
    def nbytes(self) -> int:
        """Size in memory."""
        return sum(part.nbytes for part in vars(self).values())

    def search(self, query: Features, limit: int, reach: float) -> list[Match]:
        """The nearest pictures no further away than `reach`, nearest first; earlier wins a tie."""
        if not len(self._hashes):
            return []
        nearest: dict[int, float] = {}
        for positions, distances in self._looked_at(query):
            for at, distance in zip(positions.tolist(), distances.tolist(), strict=True):
                nearest[at] = min(nearest.get(at, distance), distance)
        ranked = sorted((distance, at) for at, distance in nearest.items() if distance <= reach)
        return [Match(at, distance) for distance, at in ranked[:limit]]

    def _looked_at(self, query: Features) -> Iterator[tuple[NDArray[np.int64], Layouts]]:
        """Pictures worth a close look and their distances, as wholes and in windows of each size."""
        thumb = query.thumb
        as_wholes, *in_windows = self._likeness(thumb)
        wholes = [as_wholes.max(axis=1), -self._layout_apart(thumb), -self._differing(query.phash)]
        positions = np.unique(np.concatenate([_highest(values) for values in wholes]))
        yield positions, _whole_distances(thumb, self._thumbs[positions])
        for windows, likeness in zip(_KINDS[1:], in_windows, strict=True):
            positions = _highest(likeness.max(axis=1))
            places = [windows[at] for at in likeness[positions].argmax(axis=1)]
            yield positions, _window_distances(thumb, self._thumbs[positions], places)

    def _likeness(self, thumb: Thumbs) -> list[NDArray[np.float32]]:
        """Cosines of the stored pictures with the searched one in each place, (pictures, places) for each size.

        Every place at once: the stored pictures do not fit into a processor's cache, so they are gone through once.
        """
        placed, compared = map(np.concatenate, zip(*(_placed(thumb, places) for places in _KINDS), strict=True))
        own = np.linalg.norm(placed, axis=1)
        theirs = np.sqrt(self._energy @ compared.T)
        cosines: NDArray[np.float32] = (self._coarse @ placed.T) / np.maximum(theirs * own, 1.0)
        return np.split(cosines, np.cumsum([len(places) for places in _KINDS])[:-1], axis=1)

    def _layout_apart(self, thumb: Thumbs) -> NDArray[np.float32]:
        """How far the coarse layouts of the stored pictures are from the searched one's, (pictures,)."""
        ours = _pooled(colours(thumb)[None]).reshape(-1)
        parts = [self._layouts[at : at + _BATCH] for at in range(0, len(self._layouts), _BATCH)]
        apart: NDArray[np.float32] = np.concatenate([np.abs(part - ours).sum(axis=1) for part in parts])
        return apart / np.maximum(self._masses + np.abs(ours).sum(), 1e-6)

    def _differing(self, phash: NDArray[np.uint8]) -> NDArray[np.float32]:
        """In how many bits the hashes of the stored pictures differ from the searched one's, (pictures,)."""
        bits: NDArray[np.float32] = np.bitwise_count(self._hashes ^ phash).sum(axis=1, dtype=np.float32)
        return bits


def _highest(values: NDArray[np.float32]) -> NDArray[np.int64]:
    count = min(_SHORTLIST, len(values))
    return np.argpartition(-values, count - 1)[:count]


def _placed(thumb: Thumbs, places: Sequence[_Place]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The searched picture in places of one size, (places, values), and which cells it fills there, (places, cells)."""
    frames = np.zeros((len(places), FRAME[1], FRAME[0], 3), np.float32)
    filled = np.zeros((len(places), FRAME[1], FRAME[0], 1), np.float32)
    channels = _channels(_resized(thumb, places[0].size))
    for frame, cells, (left, top, size, rows) in zip(frames, filled, places, strict=True):
        area = slice(top + rows.start, top + rows.stop), slice(left, left + size[0])
        frame[area], cells[area] = channels[rows], 1
    return _pooled(frames).reshape(len(places), -1), _pooled(filled)[..., 0]


def _resized(thumb: Thumbs, size: tuple[int, int]) -> Thumbs:
    if size == FRAME:
        return thumb
    return np.asarray(Image.fromarray(thumb).resize(size, Image.Resampling.BOX))


def _channels(thumbs: Thumbs) -> NDArray[np.float32]:
    """Colours that stand out, and brightness relative to the ground's, (..., down, across, 3)."""
    grey = thumbs.mean(axis=-1, keepdims=True, dtype=np.float32)
    grey -= np.median(grey, axis=(-3, -2), keepdims=True)
    return np.concatenate([colours(thumbs), _GREY * grey], axis=-1)


def _pooled(frames: NDArray[np.float32]) -> NDArray[np.float32]:
    """Means of coarse cells, (pictures, coarse cells, channels)."""
    count, down, across, channels = frames.shape
    cells = frames.reshape(count, down // _POOL, _POOL, across // _POOL, _POOL, channels).mean(axis=(2, 4))
    return cells.reshape(count, -1, channels)


def _whole_distances(thumb: Thumbs, stored: Thumbs) -> Layouts:
    """How far stored pictures are as wholes, (pictures,): by their layout, or by appearance where there is none."""
    ours, theirs = colours(thumb), colours(stored)
    nearest = np.full(len(stored), np.inf, np.float32)
    for place in _WHOLES:
        rows = place.rows
        layout, faint = _layout_distances(ours[rows], theirs[:, rows])
        distances = np.where(faint, _unlikeness(thumb[rows], stored[:, rows]), layout) if faint.any() else layout
        nearest = np.minimum(nearest, distances)
    return nearest


def _window_distances(thumb: Thumbs, stored: Thumbs, places: Sequence[_Place]) -> Layouts:
    """How far stored pictures are in their windows, each moved by up to a cell, (pictures,).

    A window has so many chances to fit that layout alone is not enough; only a cut copy looks alike besides.
    """
    size = places[0].size
    ours = _resized(thumb, size)
    tops = np.add.outer([place.top for place in places], _BESIDE[:, 0]).clip(0, FRAME[1] - size[1])
    lefts = np.add.outer([place.left for place in places], _BESIDE[:, 1]).clip(0, FRAME[0] - size[0])
    chosen = (np.arange(len(places))[:, None], tops, lefts)
    theirs, layouts = _cut(stored, size)[chosen], _cut(colours(stored), size)[chosen]
    layout, faint = _layout_distances(colours(ours), layouts)
    unlike = _unlikeness(ours, theirs)
    nearest: Layouts = np.where(faint, unlike, (2 * layout + unlike) / 3).min(axis=1)
    return nearest


def _cut(values: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """Every window of a size, (pictures, tops, lefts, down, across, channels); a view."""
    windows = np.lib.stride_tricks.sliding_window_view(values, (size[1], size[0]), axis=(1, 2))
    return np.moveaxis(windows, 3, -1)


def _layout_distances(ours: Layouts, theirs: Layouts) -> tuple[Layouts, NDArray[np.bool_]]:
    """From 0 for equal layouts to 1 for those that share no place or colour; and where there is next to no layout.

    Sums of absolute differences forgive a part that is different; the cosine forgives stronger or weaker colours.
    """
    axes = (-3, -2, -1)
    together = np.abs(theirs).sum(axis=axes) + np.abs(ours).sum()
    apart = np.abs(theirs - ours).sum(axis=axes) / np.maximum(together, 1e-6)
    both = np.sqrt(np.square(theirs).sum(axis=axes) * np.square(ours).sum())
    cosine = (theirs * ours).sum(axis=axes) / np.maximum(both, 1e-6)
    return (2 * apart + 1 - cosine.clip(0, 1)) / 3, together < _FAINT * ours.size


def _unlikeness(ours: Thumbs, theirs: Thumbs) -> Layouts:
    """1 less the correlation over all cells and channels: 0 for copies, however bright, 1 for no likeness."""
    axes = (-3, -2, -1)
    one = ours - ours.mean(dtype=np.float32)
    other = theirs - theirs.mean(axis=axes, dtype=np.float32, keepdims=True)
    both = np.sqrt(np.square(other).sum(axis=axes) * np.square(one).sum())
    unlike: Layouts = (1 - (other * one).sum(axis=axes) / np.maximum(both, 1e-6)).clip(0, 1)
    return unlike
