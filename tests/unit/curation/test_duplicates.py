import io
import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageEnhance

from components.curation.duplicates import Duplicates, HashIndex, Looks, alike, looks
from components.records.kinds import KINDS
from components.world.draw import Scene, draw_scene
from components.world.facts import random_face
from components.world.styles import STYLES


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([24, 64, 256]))
def test_the_index_agrees_with_comparing_every_hash(seed: int, radius: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    models = rng.random((6, size)) < 0.5
    index, stored = HashIndex(size, radius), np.zeros((0, size), bool)
    for _ in range(60):
        bits = models[rng.integers(len(models))].copy()
        bits[rng.choice(size, rng.integers(0, 2 * radius + 2), replace=False)] ^= True
        assert index.near(bits) == np.flatnonzero((stored != bits).sum(axis=1) <= radius).tolist()
        index.add(bits)
        stored = np.concatenate([stored, bits[None]])


def test_an_index_grows_beyond_its_first_room() -> None:
    rng = np.random.default_rng(1)
    hashes = rng.random((1500, 256)) < 0.5
    index = HashIndex()
    assert [index.add(bits) for bits in hashes] == list(range(1500))
    assert all(index.near(hashes[at]) == [at] for at in (0, 1023, 1024, 1499))


def scene(seed: int) -> Scene:
    rng = random.Random(seed)
    return Scene(
        face=random_face(rng),
        kind=rng.choice(KINDS),
        count=rng.randint(4, 9),
        composition=seed,
        style=rng.choice(list(STYLES)),
        seed=rng.randrange(2**31),
        title="Harvest Gala",
        below=("Rowan Hall", "12 March 2031"),
    )


def encoded(image: Image.Image) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=60)
    return Image.open(buffer)


COPIES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "encoded": encoded,
    "smaller": lambda image: image.resize((image.width // 2, image.height // 2)),
    "larger": lambda image: image.resize((image.width * 3 // 2, image.height * 3 // 2)),
    "brighter": lambda image: ImageEnhance.Brightness(image).enhance(1.05),
    "darker": lambda image: ImageEnhance.Brightness(image).enhance(0.9),
}


@pytest.fixture(scope="module")
def known() -> Duplicates:
    index = Duplicates()
    for seed in range(20):
        seen = looks(draw_scene(scene(seed)))
        assert index.of(seen) == []
        index.add(seen)
    return index


@pytest.mark.parametrize("edit", COPIES.values(), ids=COPIES.keys())
def test_a_copy_is_found(known: Duplicates, edit: Callable[[Image.Image], Image.Image]) -> None:
    assert [known.of(looks(edit(draw_scene(scene(seed))))) for seed in range(20)] == [[seed] for seed in range(20)]


@pytest.mark.parametrize("change", [{"seed": 7}, {"seed": 7, "count": 10}, {"below": ("Rowan Hall", "3 May 2032")}])
def test_another_picture_of_an_event_is_no_copy(known: Duplicates, change: dict[str, object]) -> None:
    for seed in range(20):
        assert known.of(looks(draw_scene(replace(scene(seed), **change)))) == []  # type: ignore[arg-type]


def test_a_hash_alone_is_not_enough() -> None:
    seen = looks(draw_scene(scene(1)))
    other = seen.thumb.copy()
    other[10:12, 10:12] = 255 - other[10:12, 10:12]
    assert not alike(seen.thumb, other)
    index = Duplicates()
    index.add(seen)
    assert index.of(Looks(seen.bits, other)) == []
    assert index.of(seen) == [0]
