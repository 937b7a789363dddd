"""Seeing countable things with classical vision: strong colour against quiet ground, then shape. Pixels only."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from components.records.kinds import PAIRS, pair_of

Pixels = NDArray[np.uint8]
"""Height x width x 3, RGB."""

Mask = NDArray[np.uint8]
"""Height x width, 0 or 255."""

_MIN_CHROMA = 38.0
"""CIELAB chroma from which a pixel belongs to a thing rather than to the ground."""

_MIN_AREA_SHARE = 130 / (320 * 240)
"""Smallest thing, as a share of the picture."""

_HUES: dict[tuple[str, str], tuple[str, float]] = {
    ("balloon", "lantern"): ("red", 22.0),
    ("boat", "drum"): ("orange", 73.0),
    ("flag", "kite"): ("blue", -72.0),
    ("tree", "umbrella"): ("green", 153.0),
}
"""Colour and CIELAB hue in degrees that each pair is known by."""

_HUE_TOLERANCE = 24.0

_SHAPES: dict[str, tuple[str, float]] = {
    "lantern": ("fullness", 0.86),
    "drum": ("fullness", 0.75),
    "flag": ("squareness", 0.66),
    "umbrella": ("flatness", 1.4),
}
"""The measure, and its least value, by which one kind of each pair is told from the other."""


@dataclass(frozen=True)
class Thing:
    """One thing in a picture."""

    pair: tuple[str, str]
    kind: str
    area: int
    """Pixels."""
    box: tuple[int, int, int, int]
    """Left, top, right, bottom, pixels."""


def colour_of(pair: tuple[str, str]) -> str:
    """The colour that things of a pair have."""
    return _HUES[pair][0]


def find_things(pixels: Pixels, without: Mask | None = None) -> list[Thing]:
    """Every thing in a picture, of whichever kind.

    Args:
        pixels: the picture.
        without: where not to look, for instance at a person.

    """
    pairs = codes_of(pixels, _pair_of_colour())
    if without is not None:
        pairs[without > 0] = 0
    present = np.bincount(pairs.ravel(), minlength=len(PAIRS) + 1)
    return [thing for code, pair in enumerate(PAIRS, 1) if present[code] for thing in _things_of(pair, pairs == code)]


def codes_of(pixels: Pixels, table: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What a table of 256 x 256 codes says of the colour of each pixel, by its 8-bit CIELAB (a, b), (height, width)."""
    _, a, b = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2LAB))
    codes: NDArray[np.uint8] = table.ravel().take(a.astype(np.uint16) << 8 | b)
    return codes


def count_things(things: Sequence[Thing], kind: str) -> int:
    """How many of `things` are of a kind; things that touch count by their area.

    Raises:
        ValueError: the kind is unknown.

    """
    pair = pair_of(kind)
    areas = [thing.area for thing in things if thing.pair == pair and thing.kind == kind]
    if not areas:
        return 0
    typical = float(np.median(areas))
    return sum(max(1, round(area / typical)) for area in areas)


@cache
def _pair_of_colour() -> NDArray[np.uint8]:
    """For every 8-bit CIELAB (a, b): 1 + index of the pair that has this colour, 0 for the ground's."""
    a, b = np.mgrid[0:256, 0:256].astype(np.float32) - 128
    hue, strong = np.degrees(np.arctan2(b, a)), np.hypot(a, b) > _MIN_CHROMA
    table = np.zeros((256, 256), np.uint8)
    for code, pair in enumerate(PAIRS, 1):
        apart = np.abs(hue - _HUES[pair][1])
        table[strong & (np.minimum(apart, np.abs(apart - 360)) < _HUE_TOLERANCE)] = code
    return table


def _things_of(pair: tuple[str, str], where: NDArray[np.bool_]) -> list[Thing]:
    mask = cv2.morphologyEx(where.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    things = []
    for label in 1 + np.flatnonzero(stats[1:, cv2.CC_STAT_AREA] >= _MIN_AREA_SHARE * where.size):
        x, y, width, height, area = (int(value) for value in stats[label])
        part = (labels[y : y + height, x : x + width] == label).astype(np.uint8)
        things.append(Thing(pair, _kind(pair, part), area, (x, y, x + width, y + height)))
    return things


def _kind(pair: tuple[str, str], part: Mask) -> str:
    """Which of the two look-alikes a blob is, by the one measure that tells them apart."""
    telling = next(kind for kind in pair if kind in _SHAPES)
    measure, least = _SHAPES[telling]
    other = pair[0] if telling == pair[1] else pair[1]
    return telling if shape_measures(part)[measure] >= least else other


def shape_measures(part: Mask) -> dict[str, float]:
    """What a blob's shape is like.

    Returns:
        `fullness`: share of the tightest turned box that is filled; `squareness`: the same of the upright box;
        `flatness`: width by height.

    """
    outline = max(cv2.findContours(part, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0], key=len)
    (_, (first, second), _) = cv2.minAreaRect(outline)
    filled = cv2.countNonZero(cv2.drawContours(np.zeros_like(part), [outline], 0, 1, cv2.FILLED))
    return {
        "fullness": filled / ((first + 1) * (second + 1)),
        "squareness": filled / part.size,
        "flatness": part.shape[1] / part.shape[0],
    }
