"""Seeing the small signs that tell what a host does and what the sky shows: their colour first, then their shape."""

from functools import cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from components.tools.vision_objects import Mask, Pixels, codes_of, shape_measures

_MIN_CHROMA = 24.0
"""CIELAB chroma from which a pixel can belong to a sign; signs are small, and their edges mix with the ground."""

_ACTION_HUE, _SKY_HUE = 338.0, 208.0
"""CIELAB hue of each group, degrees."""

_HUE_TOLERANCE = 16.0

_MIN_PART = 12 / (320 * 240)
_MIN_SIGN = 60 / (320 * 240)
"""Smallest part of a sign, and smallest sign, as shares of the picture."""


class Signs(NamedTuple):
    """What the signs of a picture tell."""

    action: str | None
    """What the host does, None when no sign tells."""
    sky: str | None
    """What the sky shows, None when no sign tells."""


def read_signs(pixels: Pixels, without: Mask) -> Signs:
    """What the host does and what the sky shows; `without` is where not to look."""
    groups = codes_of(pixels, _group_of_colour())
    groups[without > 0] = 0
    return Signs(_action(_parts(groups == 1)), _sky(_parts(groups == 2)))


def _action(parts: list[NDArray[np.uint8]]) -> str | None:
    if len(parts) != 1:
        return {2: "reading", 3: "juggling"}.get(len(parts))
    return "cooking" if shape_measures(parts[0])["squareness"] > 0.6 else "singing"


def _sky(parts: list[NDArray[np.uint8]]) -> str | None:
    if len(parts) != 1:
        return "rain" if len(parts) == 3 else None
    measures = shape_measures(parts[0])
    if measures["flatness"] > 1.4:
        return "rainbow"
    return "sun" if measures["squareness"] > 0.68 else "moon"


@cache
def _group_of_colour() -> NDArray[np.uint8]:
    """For every 8-bit CIELAB (a, b): 1 for the actions' colour, 2 for the sky's, 0 for any other."""
    a, b = np.mgrid[0:256, 0:256].astype(np.float32) - 128
    hue, strong = np.degrees(np.arctan2(b, a)) % 360, np.hypot(a, b) > _MIN_CHROMA
    table = np.zeros((256, 256), np.uint8)
    for group, known in enumerate((_ACTION_HUE, _SKY_HUE), 1):
        apart = np.abs(hue - known)
        table[strong & (np.minimum(apart, 360 - apart) < _HUE_TOLERANCE)] = group
    return table


def _parts(where: NDArray[np.bool_]) -> list[NDArray[np.uint8]]:
    """Silhouettes of the parts of one sign, which is where its colour is; none when there is too little of it."""
    least = _MIN_SIGN * where.size
    if np.count_nonzero(where) < least:
        return []
    _, labels, stats, _ = cv2.connectedComponentsWithStats(where.astype(np.uint8), connectivity=4)
    kept = 1 + np.flatnonzero(stats[1:, cv2.CC_STAT_AREA] >= _MIN_PART * where.size)
    if stats[kept, cv2.CC_STAT_AREA].sum() < least:
        return []
    return [_silhouette(labels, stats[label], int(label)) for label in kept]


def _silhouette(labels: NDArray[np.int32], stats: NDArray[np.int32], label: int) -> NDArray[np.uint8]:
    x, y, width, height = (int(value) for value in stats[:4])
    return (labels[y : y + height, x : x + width] == label).astype(np.uint8)
