"""Signs, sides and arrangements in scenes drawn at random in all styles; the accuracies asked for are the product's."""

import random
from dataclasses import replace

import numpy as np
import pytest

from components.records.kinds import ACTIONS, KINDS, SIDES, SKIES
from components.tools import vision
from components.world.draw import Scene, draw_portrait, draw_scene
from components.world.facts import random_face
from components.world.styles import STYLES

SCENES = 60


def scenes() -> list[Scene]:
    rng, styles = random.Random(47), list(STYLES)
    return [
        Scene(
            face=random_face(rng),
            kind=rng.choice(KINDS),
            count=rng.randint(3, 12),
            composition=rng.randrange(10**6),
            style=styles[index % len(styles)],
            seed=rng.randrange(10**6),
            title="Harvest Gala",
            below=("Rowan Hall", "12 March 2031"),
        )
        for index in range(SCENES)
    ]


@pytest.mark.parametrize(("name", "values"), [("action", ACTIONS), ("sky", SKIES), ("side", SIDES)])
def test_a_glance_tells_what_is_shown(name: str, values: tuple[str, ...]) -> None:
    right = []
    for index, scene in enumerate(scenes()):
        shown = values[index % len(values)]
        right.append(getattr(vision.glance(draw_scene(replace(scene, **{name: shown}))), name) == shown)
    assert np.mean(right) >= 0.98


def test_where_no_sign_is_none_is_seen() -> None:
    glances = [vision.glance(draw_scene(scene)) for scene in scenes()]
    assert {(seen.action, seen.sky, seen.people) for seen in glances} == {(None, None, 1)}


def test_a_guest_is_a_second_person_and_either_is_recognised() -> None:
    rng, right = random.Random(5), []
    for scene in scenes()[:30]:
        guest = random_face(rng)
        picture = draw_scene(replace(scene, guest=guest))
        stranger = random_face(rng)
        portraits = {face: draw_portrait(face, "print", 3) for face in (scene.face, guest, stranger)}
        right.append(vision.glance(picture).people == 2)
        right.append(vision.compare_faces(picture, portraits[scene.face]).verdict == "same")
        right.append(vision.compare_faces(picture, portraits[guest]).verdict == "same")
        if min(stranger.distance(scene.face), stranger.distance(guest)) >= 2:
            right.append(vision.compare_faces(picture, portraits[stranger]).verdict == "different")
    assert np.mean(right) >= 0.97


def test_two_renderings_of_a_scene_are_alike_and_those_of_two_scenes_are_not() -> None:
    drawn = [(scene, draw_scene(scene)) for scene in scenes()[:40]]
    same = [
        vision.same_scene(image, draw_scene(replace(scene, style="mist", seed=9, title=None, below=())))
        for scene, image in drawn
    ]
    fewer = [vision.same_scene(image, draw_scene(replace(scene, count=scene.count - 1))) for scene, image in drawn]
    other = [
        vision.same_scene(image, draw_scene(replace(scene, composition=scene.composition + 1)))
        for scene, image in drawn
    ]
    assert np.mean(same) >= 0.97
    assert np.mean(fewer) >= 0.97
    assert np.mean(other) <= 0.1


def test_a_portrait_shows_no_scene() -> None:
    scene = scenes()[0]
    assert vision.same_scene(draw_scene(scene), draw_portrait(scene.face, "print", 3)) is None
