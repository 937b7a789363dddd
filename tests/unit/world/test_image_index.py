import io
import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageEnhance

from components.records.kinds import KINDS
from components.world.draw import Scene, draw_scene, encode_png
from components.world.facts import random_face
from components.world.image_features import features
from components.world.image_index import ImageIndex
from components.world.styles import STYLES
from components.world.web import REACH

PICTURES, QUERIES = 120, 12


def scene(seed: int) -> Scene:
    rng = random.Random(seed)
    return Scene(
        face=random_face(rng),
        kind=rng.choice(KINDS),
        count=rng.randint(4, 11),
        composition=seed,
        style=rng.choice(list(STYLES)),
        seed=rng.randrange(2**31),
    )


@pytest.fixture(scope="module")
def index() -> ImageIndex:
    return ImageIndex([features(encode_png(draw_scene(scene(seed)))) for seed in range(PICTURES)])


def cropped(image: Image.Image, seed: int) -> Image.Image:
    """Four fifths of each side, anywhere."""
    width, height = round(0.8 * image.width), round(0.8 * image.height)
    left, top = seed * 7 % (image.width - width + 1), seed * 5 % (image.height - height + 1)
    return image.crop((left, top, left + width, top + height))


def bannered(image: Image.Image, seed: int) -> Image.Image:
    """A red strip over the top or the bottom fifth."""
    image, height = image.copy(), image.height // 5
    top = seed % 2 * (image.height - height)
    ImageDraw.Draw(image).rectangle([0, top, image.width, top + height], fill=(210, 30, 40))
    ImageDraw.Draw(image).text((20, top + 10), "BREAKING NEWS", fill=(255, 255, 255))
    return image


def compressed(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=40)
    return buffer.getvalue()


EDITS: dict[str, Callable[[Image.Image, int], bytes]] = {
    "cropped": lambda image, seed: encode_png(cropped(image, seed)),
    "halved": lambda image, seed: encode_png(image.resize((image.width // 2, image.height // 2))),
    "compressed": lambda image, seed: compressed(image),
    "brightened": lambda image, seed: encode_png(ImageEnhance.Brightness(image).enhance(1.4)),
    "bannered": lambda image, seed: encode_png(bannered(image, seed)),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_the_original_of_an_edited_picture_comes_first(
    index: ImageIndex, edit: Callable[[Image.Image, int], bytes]
) -> None:
    for seed in range(QUERIES):
        assert index.search(features(edit(draw_scene(scene(seed)), seed)), 3, REACH)[0].position == seed


def test_an_event_drawn_anew_is_found(index: ImageIndex) -> None:
    for seed in range(QUERIES):
        first = scene(seed)
        style = next(style for style in STYLES if style != first.style)
        anew = replace(first, style=style, seed=seed, count=first.count - 1, below=("Rowan Hall", "12 March 2031"))
        assert index.search(features(encode_png(draw_scene(anew))), 3, REACH)[0].position == seed


def test_matches_are_ordered_limited_and_within_reach(index: ImageIndex) -> None:
    query = features(encode_png(draw_scene(scene(5))))
    found = index.search(query, 4, 1.0)
    assert [match.distance for match in found] == sorted(match.distance for match in found)
    assert (len(found), found[0].position) == (4, 5)
    assert found[0].distance == pytest.approx(0, abs=1e-6)
    assert index.search(query, 4, 0.001) == found[:1]


def test_pictures_without_colour_are_told_by_their_appearance() -> None:
    rng = np.random.default_rng(1)
    grey = [Image.fromarray(rng.integers(0, 256, (12, 16), np.uint8)).resize((160, 120)) for _ in range(8)]
    index = ImageIndex([features(encode_png(image)) for image in grey])
    for position, image in enumerate(grey):
        found = index.search(features(compressed(image)), 8, 1.0)
        assert found[0].position == position
        assert found[0].distance < 0.1 < found[1].distance
