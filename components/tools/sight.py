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
class PersonComparison:
    """Whether two pictures show the same person."""

    same: bool | None
    """None when one of them shows nobody."""
    payload: Mapping[str, Any]


def glance(picture: Image.Image) -> Sentence:
    """`photo: one person; repeated objects: balloon or lantern; printed text`: no kind decided, nothing counted."""
    from components.tools import vision

    seen = vision.glance(picture)
    objects = f"repeated objects: {' or '.join(seen.pair)}" if seen.pair else "no repeated objects"
    parts = [
        "one person" if seen.has_person else "no person",
        objects,
        "printed text" if seen.has_text else "no printed text",
    ]
    payload = {
        "person": seen.has_person,
        "pair": list(seen.pair or ()),
        "colour": seen.colour,
        "printed_text": seen.has_text,
    }
    return Sentence(f"photo: {'; '.join(parts)}", payload)


def count(picture: Image.Image, kind: str) -> int:
    """How many objects of a kind the picture shows."""
    from components.tools import vision

    return vision.count_kind(picture, kind)


def compare_persons(picture: Image.Image, reference: Image.Image) -> PersonComparison:
    """Whether a reference shows the person in the picture."""
    from components.tools import vision

    found = vision.compare_faces(picture, reference)
    same = {"same": True, "different": False}.get(found.verdict)
    return PersonComparison(same, {"comparison": found.verdict, "similarity": found.similarity})
