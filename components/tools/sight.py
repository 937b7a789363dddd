"""What the eyes tell, in the words that a policy reads. The eyes themselves are in `vision`."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from PIL import Image

if TYPE_CHECKING:
    from components.tools.vision import Look
    from components.tools.vision_measures import Measure, Spread

_KEPT = 64
"""Pictures that are kept open between investigations; each takes some 400 KB."""


@dataclass(frozen=True)
class Sentence:
    """One line for the policy, and the same as values."""

    text: str
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Comparison:
    """What a picture and a reference have in common."""

    same_person: bool | None
    """None when one of them shows nobody."""
    same_scene: bool | None
    """None when one of them shows no repeated objects, as a portrait does."""
    payload: Mapping[str, Any]

    @property
    def text(self) -> str:
        """`same person; different scene`, or only what could be compared."""
        compared = (("person", self.same_person), ("scene", self.same_scene))
        return "; ".join(f"{'same' if same else 'different'} {what}" for what, same in compared if same is not None)


_PEOPLE = ("no person", "one person", "two people")


class Sight:
    """A picture as the tools see it: opened once, and looked at once, however many tools ask."""

    def __init__(self, image: Image.Image) -> None:
        self.image = image

    def knows(self, what: str) -> bool:
        """Whether `look` or `glance` has been taken already, so that asking costs next to nothing."""
        return what in vars(self)

    @cached_property
    def look(self) -> "Look":
        """Who and what is found in it."""
        from components.tools import vision

        return vision.look(self.image)

    @cached_property
    def glance(self) -> Sentence:
        """`photo: one person on the left; repeated objects: balloon or lantern; sky moon; printed text`.

        No kind is decided, nothing counted; signs that are not there are not mentioned.
        """
        from components.tools import vision

        seen = vision.glance(self.image, self.look)
        people = _PEOPLE[min(seen.people, len(_PEOPLE) - 1)]
        parts = [
            f"{people} on the {seen.side}" if seen.side else people,
            f"repeated objects: {' or '.join(seen.pair)}" if seen.pair else "no repeated objects",
            *(f"{name} {sign}" for name, sign in (("action", seen.action), ("sky", seen.sky)) if sign),
            "printed text" if seen.has_text else "no printed text",
        ]
        payload = {
            "people": seen.people,
            "side": seen.side,
            "pair": list(seen.pair or ()),
            "colour": seen.colour,
            "action": seen.action,
            "sky": seen.sky,
            "printed_text": seen.has_text,
        }
        return Sentence(f"photo: {'; '.join(parts)}", payload)

    def count(self, kind: str) -> int:
        """How many objects of a kind it shows."""
        from components.tools import vision

        return vision.count_kind(self.look, kind)

    def spread(self, measure: "Measure") -> "Spread":
        """How its parts differ in noise or sharpness."""
        from components.tools import vision_measures

        return vision_measures.spread(self.image, measure)

    def compare(self, reference: "Sight") -> Comparison:
        """Whether a reference shows its person and its scene."""
        from components.tools import vision

        faces = vision.compare_faces(self.look, reference.look)
        person = {"same": True, "different": False}.get(faces.verdict)
        scene = vision.same_scene(self.look, reference.look)
        return Comparison(person, scene, {"person": faces.verdict, "similarity": faces.similarity, "same_scene": scene})


@lru_cache(maxsize=_KEPT)
def sight_of(data: bytes) -> Sight:
    """The sight of an encoded picture; investigations of the same case share it, and those of the same reference."""
    return Sight(Image.open(io.BytesIO(data)).convert("RGB"))
