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
    "Look",
    "Seen",
    "compare_faces",
    "count_all",
    "count_kind",
    "find_face",
    "glance",
    "look",
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


@dataclass(frozen=True)
class Look:
    """Who and what one look at a picture finds, without its pixels: what counting and comparing go by."""

    width: int
    """Of the picture, pixels."""
    people: tuple[vision_faces.Face, ...]
    """The largest first."""
    things: tuple[vision_objects.Thing, ...]

    @property
    def side(self) -> str | None:
        """Where the largest person is, left or right."""
        return _side(self.people[0].box, self.width) if self.people else None

    @property
    def middles(self) -> NDArray[np.float64]:
        """Middles of the things in picture widths, (things, 2)."""
        boxes = np.array([thing.box for thing in self.things], float).reshape(-1, 4)
        return (boxes[:, :2] + boxes[:, 2:]) / 2 / self.width


Seen = Image.Image | Look
"""A picture, or what an earlier look at it has found; both lead to the same answers."""


def look(image: Image.Image) -> Look:
    """Look once at a picture for everything that is counted and compared."""
    pixels = _pixels(image)
    faces = vision_faces.find_faces(pixels)
    things = vision_objects.find_things(pixels, vision_faces.people_mask(faces, pixels.shape))
    return Look(image.width, tuple(vision_faces.face_at(pixels, box) for box in faces), tuple(things))


def glance(image: Image.Image, seen: Look | None = None) -> Glance:
    """What one look at a picture tells.

    Args:
        image: the picture.
        seen: what an earlier look has found in it; None to look now.

    """
    seen, pixels = seen or look(image), _pixels(image)
    without = vision_faces.people_mask([face.box for face in seen.people], pixels.shape)
    areas = {pair: sum(thing.area for thing in seen.things if thing.pair == pair) for pair in PAIRS}
    pair = max(PAIRS, key=lambda candidate: areas[candidate]) if seen.things else None
    signs = vision_signs.read_signs(pixels, without)
    return Glance(
        pair=pair,
        colour=vision_objects.colour_of(pair) if pair else None,
        people=len(seen.people),
        side=seen.side,
        action=signs.action,
        sky=signs.sky,
        has_text=_has_text(pixels, without),
    )


def count_kind(picture: Seen, kind: str) -> int:
    """How many things of a kind a picture shows.

    Raises:
        ValueError: the kind is not one of `KINDS`.

    """
    return vision_objects.count_things(_seen(picture).things, kind)


def count_all(picture: Seen) -> dict[str, int]:
    """How many things of every kind a picture shows, from one look."""
    things = _seen(picture).things
    return {kind: vision_objects.count_things(things, kind) for kind in KINDS}


def find_face(picture: Seen) -> Box | None:
    """The box of the largest person's face (left, top, right, bottom, pixels), None when nobody is there."""
    return next((face.box for face in _seen(picture).people), None)


def compare_faces(picture: Seen, other: Seen) -> FaceComparison:
    """Whether two pictures show the same person."""
    return vision_faces.compare_faces(_seen(picture).people, _seen(other).people)


def same_scene(picture: Seen, other: Seen) -> bool | None:
    """Whether people and things of two pictures are arranged alike; None when one of them shows no things."""
    looks = _seen(picture), _seen(other)
    fewer, more = sorted((seen.middles for seen in looks), key=len)
    if not len(fewer):
        return None
    apart = np.abs(fewer[:, None] - more[None]).max(axis=-1).min(axis=1)
    return looks[0].side == looks[1].side and bool(np.mean(apart < _NEAR) >= _ALIKE)


def _seen(picture: Seen) -> Look:
    return picture if isinstance(picture, Look) else look(picture)


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
