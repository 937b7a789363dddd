"""Seeing the small signs that tell what a host does and what the sky shows: their colour first, then their shape."""

import cv2
import numpy as np
from numpy.typing import NDArray

from components.tools.vision_objects import Mask, Pixels, shape_measures

_MIN_CHROMA = 24.0
"""CIELAB chroma from which a pixel can belong to a sign; signs are small, and their edges mix with the ground."""

_ACTION_HUE, _SKY_HUE = 338.0, 208.0
"""CIELAB hue of each group, degrees."""

_HUE_TOLERANCE = 16.0

_MIN_PART = 12 / (320 * 240)
_MIN_SIGN = 60 / (320 * 240)
"""Smallest part of a sign, and smallest sign, as shares of the picture."""


def read_action(pixels: Pixels, without: Mask) -> str | None:
    """What the host does, None when no sign tells; `without` is where not to look."""
    parts = _parts(pixels, without, _ACTION_HUE)
    if len(parts) != 1:
        return {2: "reading", 3: "juggling"}.get(len(parts))
    return "cooking" if shape_measures(parts[0])["squareness"] > 0.6 else "singing"


def read_sky(pixels: Pixels, without: Mask) -> str | None:
    """What the sky shows, None when no sign tells; `without` is where not to look."""
    parts = _parts(pixels, without, _SKY_HUE)
    if len(parts) != 1:
        return "rain" if len(parts) == 3 else None
    measures = shape_measures(parts[0])
    if measures["flatness"] > 1.4:
        return "rainbow"
    return "sun" if measures["squareness"] > 0.68 else "moon"


def _parts(pixels: Pixels, without: Mask, hue: float) -> list[NDArray[np.uint8]]:
    """Silhouettes of the parts of the one sign of a colour; none when there is too little of it."""
    lab = cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB).astype(np.float32)
    a, b = lab[..., 1] - 128, lab[..., 2] - 128
    apart = np.abs(np.degrees(np.arctan2(b, a)) % 360 - hue)
    where = (np.hypot(a, b) > _MIN_CHROMA) & (np.minimum(apart, 360 - apart) < _HUE_TOLERANCE) & (without == 0)
    total, labels, stats, _ = cv2.connectedComponentsWithStats(where.astype(np.uint8), connectivity=4)
    kept = [label for label in range(1, total) if stats[label][cv2.CC_STAT_AREA] >= _MIN_PART * where.size]
    if sum(int(stats[label][cv2.CC_STAT_AREA]) for label in kept) < _MIN_SIGN * where.size:
        return []
    return [_silhouette(labels, stats[label], label) for label in kept]


def _silhouette(labels: NDArray[np.int32], stats: NDArray[np.int32], label: int) -> NDArray[np.uint8]:
    x, y, width, height = (int(value) for value in stats[:4])
    return (labels[y : y + height, x : x + width] == label).astype(np.uint8)
