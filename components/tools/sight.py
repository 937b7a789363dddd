"""What the eyes tell, in the words that a policy reads. The eyes themselves are in `vision`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PIL import Image


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


def glance(picture: Image.Image) -> Sentence:
    """`photo: one person on the left; repeated objects: balloon or lantern; sky moon; printed text`.

    No kind is decided, nothing counted; signs that are not there are not mentioned.
    """
    from components.tools import vision

    seen = vision.glance(picture)
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


def count(picture: Image.Image, kind: str) -> int:
    """How many objects of a kind the picture shows."""
    from components.tools import vision

    return vision.count_kind(picture, kind)


def compare(picture: Image.Image, reference: Image.Image) -> Comparison:
    """Whether a reference shows the person and the scene of the picture."""
    from components.tools import vision

    faces = vision.compare_faces(picture, reference)
    person = {"same": True, "different": False}.get(faces.verdict)
    scene = vision.same_scene(picture, reference)
    return Comparison(person, scene, {"person": faces.verdict, "similarity": faces.similarity, "same_scene": scene})
