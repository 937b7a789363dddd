"""How noisy and how sharp each part of a picture is, and which part stands out. A measurement, no judgement."""

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Measure = Literal["noise", "sharpness"]
CELLS = 6
"""Parts a side."""
_FAR = 6.0
"""A part stands out when it is further from the middle than so many times the usual distance ..."""
_FACTOR = 2.0
"""... and at least so many times above or below it."""
_SMALL = 1e-3


@dataclass(frozen=True)
class Spread:
    """One measure over all parts of a picture."""

    measure: Measure
    middle: float
    """The median."""
    value: float
    """Of the part furthest from it."""
    box: tuple[float, float, float, float]
    """Where that part is, as shares of width and height."""
    stands_out: bool


def spread(image: Image.Image, measure: Measure) -> Spread:
    """Measure every part: noise is the spread of the finest detail, sharpness the strength of the steepest edges.

    Both in grey levels (0..255), on `CELLS` x `CELLS` equal parts.
    """
    grey = cv2.cvtColor(np.asarray(image.convert("RGB")), cv2.COLOR_RGB2GRAY).astype(np.float32)
    values = np.array([[_of(part, measure) for part in row] for row in _parts(grey)])
    middle = float(np.median(values))
    distances = np.abs(values - middle)
    usual = float(np.median(distances)) + _SMALL
    row, column = np.unravel_index(int(distances.argmax()), values.shape)
    value = float(values[row, column])
    ratio = max(value, middle) / max(min(value, middle), _SMALL)
    box = (column / CELLS, row / CELLS, (column + 1) / CELLS, (row + 1) / CELLS)
    far = float(distances[row, column]) > _FAR * usual and ratio > _FACTOR
    left, top, right, bottom = (round(float(side), 4) for side in box)
    return Spread(measure, round(middle, 3), round(value, 3), (left, top, right, bottom), bool(far))


def _parts(grey: NDArray[np.float32]) -> list[list[NDArray[np.float32]]]:
    return [np.array_split(row, CELLS, axis=1) for row in np.array_split(grey, CELLS, axis=0)]


def _of(part: NDArray[np.float32], measure: Measure) -> float:
    if min(part.shape) < 3:
        return 0.0
    if measure == "noise":
        # What a median filter takes away, by its median: edges hardly count.
        plain = np.abs(part - cv2.medianBlur(part, 3))
        return float(np.mean(np.minimum(plain, 3 * (np.median(plain) + _SMALL))))
    return float(np.percentile(np.abs(cv2.Laplacian(part, cv2.CV_32F)), 95))
