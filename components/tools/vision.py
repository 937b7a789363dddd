"""What can be seen in a picture: the tools' eyes. Every function works from pixels alone.

Nothing here knows how pictures were made; only the names of kinds and pairs are common knowledge.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from components.records.kinds import KINDS, PAIRS, SIDES
from components.tools import vision_faces, vision_objects, vision_signs
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
    "same_scene",
]

_TEXT_CONTRAST = 90
_TEXT_LINE = (0.12, 0.02, 0.14)
"""Least width, least and greatest height of a printed line, as shares of the picture's width and height."""


_NEAR = 0.01
"""Things of one scene stand no further apart than this share of the picture's width in two renderings."""
_ALIKE = 0.7
"""Share of the fewer things that must have a counterpart in the other picture of a scene."""


@dataclass(frozen=True)
class Glance:
    """What one look at a picture tells; never which of two look-alikes, and never how many."""

    pair: tuple[str, str] | None
    """Look-alike kinds that the repeated things may be, in alphabetical order."""
    colour: str | None
    """Of the repeated things."""
    people: int
    side: str | None
    """Where the largest person is, left or right."""
    action: str | None
    """What the person does."""
    sky: str | None
    """What the sky shows."""
    has_text: bool
    """Whether there are printed lines."""


def glance(image: Image.Image) -> Glance:
    """Look once at a picture."""
    pixels = _pixels(image)
    faces = vision_faces.find_faces(pixels)
    people = vision_faces.people_mask(faces, pixels.shape)
    things = vision_objects.find_things(pixels, people)
    areas = {pair: sum(thing.area for thing in things if thing.pair == pair) for pair in PAIRS}
    pair = max(PAIRS, key=lambda candidate: areas[candidate]) if things else None
    return Glance(
        pair=pair,
        colour=vision_objects.colour_of(pair) if pair else None,
        people=len(faces),
        side=_side(faces[0], image.width) if faces else None,
        action=vision_signs.read_action(pixels, people),
        sky=vision_signs.read_sky(pixels, people),
        has_text=_has_text(pixels, people),
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


def find_face(image: Image.Image) -> Box | None:
    """The box of the largest person's face (left, top, right, bottom, pixels), None when nobody is there."""
    return vision_faces.find_face(_pixels(image))


def compare_faces(image_a: Image.Image, image_b: Image.Image) -> FaceComparison:
    """Whether two pictures show the same person."""
    return vision_faces.compare_faces(_pixels(image_a), _pixels(image_b))


def same_scene(image_a: Image.Image, image_b: Image.Image) -> bool | None:
    """Whether people and things of two pictures are arranged alike; None when one of them shows no things."""
    looks = [_layout(image) for image in (image_a, image_b)]
    fewer, more = sorted((places for places, _ in looks), key=len)
    if not len(fewer):
        return None
    apart = np.abs(fewer[:, None] - more[None]).max(axis=-1).min(axis=1)
    return looks[0][1] == looks[1][1] and bool(np.mean(apart < _NEAR) >= _ALIKE)


def _layout(image: Image.Image) -> tuple[NDArray[np.float64], str | None]:
    """Middles of the things in picture widths, (things, 2), and the side of the largest person."""
    pixels = _pixels(image)
    faces = vision_faces.find_faces(pixels)
    things = vision_objects.find_things(pixels, vision_faces.people_mask(faces, pixels.shape))
    boxes = np.array([thing.box for thing in things], float).reshape(-1, 4)
    return (boxes[:, :2] + boxes[:, 2:]) / 2 / image.width, _side(faces[0], image.width) if faces else None


def _things(image: Image.Image) -> list[vision_objects.Thing]:
    pixels = _pixels(image)
    return vision_objects.find_things(pixels, vision_faces.people_mask(vision_faces.find_faces(pixels), pixels.shape))


def _side(face: Box, width: int) -> str:
    return SIDES[int(face[0] + face[2] > width)]


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
