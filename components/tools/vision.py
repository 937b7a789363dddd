"""What can be seen in a picture: the tools' eyes. Every function works from pixels alone.

Nothing here knows how pictures were made; only the names of kinds and pairs are common knowledge.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image

from components.records.kinds import KINDS, PAIRS
from components.tools import vision_faces, vision_objects
from components.tools.vision_faces import Box, FaceComparison
from components.tools.vision_objects import Pixels

__all__ = [
    "KINDS",
    "PAIRS",
    "FaceComparison",
    "Glance",
    "compare_faces",
    "count_all",
    "count_kind",
    "find_face",
    "glance",
]

_TEXT_CONTRAST = 90
_TEXT_LINE = (0.12, 0.02, 0.14)
"""Least width, least and greatest height of a printed line, as shares of the picture's width and height."""


@dataclass(frozen=True)
class Glance:
    """What one look at a picture tells; never which of two look-alikes, and never how many."""

    pair: tuple[str, str] | None
    """Look-alike kinds that the repeated things may be, in alphabetical order."""
    colour: str | None
    """Of the repeated things."""
    has_person: bool
    has_text: bool
    """Whether there are printed lines."""


def glance(image: Image.Image) -> Glance:
    """Look once at a picture."""
    pixels = _pixels(image)
    face = vision_faces.find_face(pixels)
    person = vision_faces.face_mask(face, pixels.shape) if face else np.zeros(pixels.shape[:2], np.uint8)
    things = vision_objects.find_things(pixels, person)
    areas = {pair: sum(thing.area for thing in things if thing.pair == pair) for pair in PAIRS}
    pair = max(PAIRS, key=lambda candidate: areas[candidate]) if things else None
    return Glance(
        pair=pair,
        colour=vision_objects.colour_of(pair) if pair else None,
        has_person=face is not None,
        has_text=_has_text(pixels, person),
    )


def count_kind(image: Image.Image, kind: str) -> int:
    """How many things of a kind a picture shows.

    Raises:
        ValueError: the kind is not one of `KINDS`.

    """
    return vision_objects.count_things(_things(image), kind)


def count_all(image: Image.Image) -> dict[str, int]:
    """How many things of every kind a picture shows, from one look."""
    things = _things(image)
    return {kind: vision_objects.count_things(things, kind) for kind in KINDS}


def _things(image: Image.Image) -> list[vision_objects.Thing]:
    pixels = _pixels(image)
    face = vision_faces.find_face(pixels)
    person = vision_faces.face_mask(face, pixels.shape) if face else None
    return vision_objects.find_things(pixels, person)


def find_face(image: Image.Image) -> Box | None:
    """The box of the person's face (left, top, right, bottom, pixels), None when nobody is there."""
    return vision_faces.find_face(_pixels(image))


def compare_faces(image_a: Image.Image, image_b: Image.Image) -> FaceComparison:
    """Whether two pictures show the same person."""
    return vision_faces.compare_faces(_pixels(image_a), _pixels(image_b))


def _pixels(image: Image.Image) -> Pixels:
    return np.asarray(image.convert("RGB"))


def _has_text(pixels: Pixels, person: vision_objects.Mask) -> bool:
    """Whether there are long, low rows of strong edges: printed lines."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    edges = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > _TEXT_CONTRAST
    edges &= person == 0
    joined = cv2.morphologyEx(edges.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((1, 13), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    height, width = grey.shape
    wide, low, high = _TEXT_LINE[0] * width, _TEXT_LINE[1] * height, _TEXT_LINE[2] * height
    return any(w >= wide and low <= h <= high and w >= 3 * h and area > 0.5 * w * h for _, _, w, h, area in stats[1:])
