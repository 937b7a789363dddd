import random

import numpy as np
import pytest
from PIL import Image

from components.tools import vision
from components.world.draw import Scene, draw_portrait, draw_scene
from components.world.entities import FaceSpec
from components.world.facts import distinct_faces
from components.world.styles import STYLES

PEOPLE = 60


@pytest.fixture(scope="module")
def people() -> list[tuple[FaceSpec, Image.Image, Image.Image]]:
    """Faces, each with an event picture and a portrait in different styles."""
    rng, styles = random.Random(43), list(STYLES)
    found = []
    for index, face in enumerate(distinct_faces(rng, PEOPLE)):
        style, other = rng.sample(styles, 2)
        scene = Scene(face=face, kind="drum", count=5, composition=index, style=style, seed=index)
        found.append((face, draw_scene(scene), draw_portrait(face, other, index)))
    return found


def test_the_same_person_is_recognised_in_another_style(
    people: list[tuple[FaceSpec, Image.Image, Image.Image]],
) -> None:
    verdicts = [vision.compare_faces(event, portrait).verdict for _, event, portrait in people]
    assert np.mean([verdict == "same" for verdict in verdicts]) >= 0.98


def test_different_people_are_told_apart(people: list[tuple[FaceSpec, Image.Image, Image.Image]]) -> None:
    verdicts = []
    for face, event, _ in people:
        others = sorted((other for other in people if other[0] != face), key=lambda other: face.distance(other[0]))
        verdicts += [vision.compare_faces(event, portrait).verdict for _, _, portrait in others[:3]]
    assert np.mean([verdict == "different" for verdict in verdicts]) >= 0.98


def test_a_face_is_found_where_it_is(people: list[tuple[FaceSpec, Image.Image, Image.Image]]) -> None:
    for _, event, portrait in people[:20]:
        box = vision.find_face(event)
        assert box is not None
        assert 85 <= box[2] - box[0] <= 100
        assert box[2] <= 130 or box[0] >= 190
        assert vision.find_face(portrait) is not None


def test_without_a_face_nothing_can_be_compared(people: list[tuple[FaceSpec, Image.Image, Image.Image]]) -> None:
    result = vision.compare_faces(people[0][1], Image.new("RGB", (320, 240), (240, 240, 240)))
    assert (result.verdict, result.similarity) == ("not_comparable", 0.0)
