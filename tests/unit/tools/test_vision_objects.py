"""Scenes are drawn at random in all styles; the accuracies asked for here are the product's."""

import random

import numpy as np
import pytest
from PIL import Image

from components.records.kinds import KINDS, pair_of
from components.tools import vision
from components.world.draw import Scene, draw_scene
from components.world.facts import COUNTS, random_face
from components.world.styles import STYLES

SCENES = 96


def scenes() -> list[Scene]:
    rng = random.Random(41)
    styles, found = list(STYLES), []
    for index in range(SCENES):
        printed = ("Harvest Gala", "Rowan Hall", "12 March 2031") if index % 3 else ()
        found.append(
            Scene(
                face=random_face(rng),
                kind=KINDS[index % len(KINDS)],
                count=rng.choice(COUNTS),
                composition=rng.randrange(10**6),
                style=styles[index // len(KINDS) % len(styles)],
                seed=rng.randrange(10**6),
                title=printed[0] if printed else None,
                below=printed[1:],
            )
        )
    return found


@pytest.fixture(scope="module")
def drawn() -> list[tuple[Scene, Image.Image]]:
    return [(scene, draw_scene(scene)) for scene in scenes()]


def test_a_glance_names_the_pair_the_person_and_the_lettering(drawn: list[tuple[Scene, Image.Image]]) -> None:
    right = [
        (seen.pair, seen.people, seen.has_text) == (pair_of(scene.kind), 1, bool(scene.below))
        for scene, seen in ((scene, vision.glance(image)) for scene, image in drawn)
    ]
    assert np.mean(right) >= 0.98


def test_a_glance_decides_no_kind(drawn: list[tuple[Scene, Image.Image]]) -> None:
    assert {vision.glance(image).pair for _, image in drawn[:24]} <= set(vision.PAIRS)


def test_counts_are_exact_and_look_alikes_count_as_none(drawn: list[tuple[Scene, Image.Image]]) -> None:
    exact, none = [], []
    for scene, image in drawn:
        look_alike = next(kind for kind in pair_of(scene.kind) if kind != scene.kind)
        exact.append(vision.count_kind(image, scene.kind) == scene.count)
        none.append(vision.count_kind(image, look_alike) == 0)
    assert np.mean(exact) >= 0.98
    assert np.mean(none) >= 0.98


def test_an_empty_picture_shows_nothing() -> None:
    blank = Image.new("RGB", (320, 240), (230, 228, 220))
    seen = vision.glance(blank)
    assert (seen.pair, seen.colour, seen.people, seen.side, seen.has_text) == (None, None, 0, None, False)
    assert vision.count_kind(blank, "kite") == 0


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown object kind 'dragon'"):
        vision.count_kind(Image.new("RGB", (320, 240)), "dragon")
