"""Finding a face and telling whether two faces are the same person's, with classical vision. Pixels only."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from components.tools.vision_objects import Mask, Pixels

Box = tuple[int, int, int, int]
"""Left, top, right, bottom, pixels."""

SameOrDifferent = Literal["same", "different", "not_comparable"]

_LIGHT, _NEUTRAL = 217, 29
"""Least brightness and greatest colour cast of the disc behind a portrait."""

_RING = 120
"""Greatest brightness of the line around the disc."""

_SIDE = 64
"""Faces are compared at this many pixels a side."""

_TURNS = (-4, -2, 0, 2, 4)
"""Head tilts tried when two faces are laid over each other, degrees."""

_CELLS = 16
"""A face is compared in so many parts a side, and judged by the `_WORST` most different ones."""

_WORST = 6

_MOST = 40.0
"""A pixel's difference counts no more than this."""

_THRESHOLD = 11.5
"""Colour difference of the most different parts from which two faces are different people's."""


@dataclass(frozen=True)
class Face:
    """A person's face in a picture."""

    box: Box
    pixels: NDArray[np.float32]
    """In CIELAB, `_SIDE` pixels square, exposed so that the disc behind it is equally bright everywhere."""


@dataclass(frozen=True)
class FaceComparison:
    """Whether two pictures show the same person."""

    verdict: SameOrDifferent
    similarity: float
    """1 for equal faces, 0.5 at the border, 0 when not comparable."""


def find_faces(pixels: Pixels) -> list[Box]:
    """The boxes of all portrait medallions, the largest first."""
    red, green, blue = cv2.split(pixels)
    low = cv2.min(cv2.min(red, green), blue)
    cast = cv2.subtract(cv2.max(cv2.max(red, green), blue), low)
    light = cv2.inRange(low, _LIGHT, 255) & cv2.inRange(cast, 0, _NEUTRAL)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(light, connectivity=8)
    least = 0.2 * min(pixels.shape[:2])
    found: list[Box] = []
    # Grain and lettering make hundreds of specks, which are left out at once.
    for label in 1 + np.flatnonzero(stats[1:, 2:4].min(axis=1) >= least):
        x, y, width, height, _ = (int(value) for value in stats[label])
        if not 0.92 < width / height < 1.09:
            continue
        part = (labels[y : y + height, x : x + width] == label).astype(np.uint8)
        box = (x, y, x + width, y + height)
        if _is_round(part) and _is_ringed(low, box):
            found.append(box)
    return sorted(found, key=lambda box: box[0] - box[2])


def people_mask(boxes: Sequence[Box], shape: tuple[int, ...]) -> Mask:
    """Where the people of `boxes` are, rings included, in a picture of `shape`."""
    mask = np.zeros(shape[:2], np.uint8)
    for box in boxes:
        middle = ((box[0] + box[2]) // 2, (box[1] + box[3]) // 2)
        cv2.circle(mask, middle, round(0.56 * (box[2] - box[0])), 255, cv2.FILLED)
    return mask


def face_at(pixels: Pixels, box: Box) -> Face:
    """The face in a box that `find_faces` has found."""
    return Face(box, _face(pixels, box))


def compare_faces(first: Sequence[Face], second: Sequence[Face]) -> FaceComparison:
    """Whether two pictures show the same person, by the faces in each; `not_comparable` when one shows nobody.

    Where both show several people, the largest of each are compared. A portrait, of one person alone, is compared with
    everybody in the other picture.
    """
    if not first or not second:
        return FaceComparison("not_comparable", 0.0)
    alone = min(len(first), len(second)) == 1
    left, right = (found if alone else found[:1] for found in (first, second))
    difference = min(face_difference(one.pixels, other.pixels) for one, other in itertools.product(left, right))
    similarity = 1 / (1 + (difference / _THRESHOLD) ** 2)
    return FaceComparison("same" if difference < _THRESHOLD else "different", round(similarity, 4))


def face_difference(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """Mean CIELAB difference of the most different parts of two faces, at the tilt that fits best."""
    return min(_laid_over(_turned(first, angle), second) for angle in _TURNS)


def _is_round(part: Mask) -> bool:
    outline = max(cv2.findContours(part, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0], key=len)
    disc = np.pi / 4 * part.shape[0] * part.shape[1]
    return 0.93 < cv2.contourArea(outline) / disc < 1.05


def _is_ringed(brightness: NDArray[np.uint8], box: Box) -> bool:
    """Whether a dark line runs all around."""
    angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    radius = 0.516 * (box[2] - box[0])
    x = np.rint((box[0] + box[2] - 1) / 2 + radius * np.cos(angles)).astype(int).clip(0, brightness.shape[1] - 1)
    y = np.rint((box[1] + box[3] - 1) / 2 + radius * np.sin(angles)).astype(int).clip(0, brightness.shape[0] - 1)
    return bool(np.mean(brightness[y, x] < _RING) > 0.9)


def _face(pixels: Pixels, box: Box) -> NDArray[np.float32]:
    """What `Face.pixels` holds."""
    crop = pixels[box[1] : box[3], box[0] : box[2]].astype(np.float32) / 255
    small = cv2.resize(crop, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB)
    lab[..., 0] += 95 - np.percentile(lab[..., 0], 95)
    return cv2.GaussianBlur(lab, (0, 0), 1.0)


def _turned(face: NDArray[np.float32], angle: float) -> NDArray[np.float32]:
    matrix = cv2.getRotationMatrix2D((_SIDE / 2, _SIDE * 0.6), angle, 1.0)
    return cv2.warpAffine(face, matrix, (_SIDE, _SIDE), borderMode=cv2.BORDER_REPLICATE)


def _inside() -> NDArray[np.float32]:
    """Where a face can be: the disc without its rim, and without the clothes."""
    y, x = np.mgrid[0:_SIDE, 0:_SIDE] / (_SIDE - 1) - 0.5
    return ((np.hypot(x, y) < 0.42) & (y < 0.3)).astype(np.float32)


_INSIDE = _inside()


def _laid_over(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    apart = first - second
    distance = np.minimum(np.sqrt(np.einsum("yxc,yxc->yx", apart, apart)), _MOST) * _INSIDE
    cells = cv2.resize(distance, (_CELLS, _CELLS), interpolation=cv2.INTER_AREA)
    return float(np.sort(cells, axis=None)[-_WORST:].mean())
