import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from components.world.draw import Scene, draw_portrait, draw_scene, encode_png
from components.world.entities import FaceSpec
from components.world.styles import STYLES

FACE = FaceSpec(skin="honey", hair_colour="copper", hair_shape="curly", glasses="round", beard="none", hat="none")
SCENE = Scene(
    face=FACE,
    kind="kite",
    count=7,
    composition=5,
    style="poster",
    seed=3,
    title="Harvest Gala",
    below=("Rowan Hall", "12 March 2031"),
)


@pytest.mark.parametrize("style", STYLES)
def test_equal_scenes_give_equal_bytes(style: str) -> None:
    scene = replace(SCENE, style=style)
    assert encode_png(draw_scene(scene)) == encode_png(draw_scene(scene))


def test_a_seed_changes_the_picture_and_keeps_the_arrangement() -> None:
    first, second = draw_scene(SCENE), draw_scene(replace(SCENE, seed=4))
    assert encode_png(first) != encode_png(second)
    blue = [np.asarray(picture)[..., 2].astype(int) - np.asarray(picture)[..., 0] > 100 for picture in (first, second)]
    overlap = (blue[0] & blue[1]).sum() / (blue[0] | blue[1]).sum()
    assert overlap > 0.6


def test_a_file_has_no_metadata() -> None:
    picture = Image.open(io.BytesIO(encode_png(draw_scene(SCENE))))
    picture.load()
    assert picture.size == (320, 240)
    assert picture.info == {}


def test_without_lettering_nothing_is_printed() -> None:
    bare = np.asarray(draw_scene(replace(SCENE, title=None, below=())))
    lettered = np.asarray(draw_scene(SCENE))
    assert bare[-45:].std() < 25 < lettered[-45:].std()


def test_a_larger_picture_scales_the_scene() -> None:
    assert draw_scene(replace(SCENE, width=640, height=480)).size == (640, 480)


def pixels(**change: object) -> np.ndarray:
    return np.asarray(draw_scene(replace(SCENE, **change)))


@pytest.mark.parametrize(
    "change",
    [{"action": "singing"}, {"sky": "moon"}, {"guest": FACE}, {"foot_lines": 3}],
    ids=lambda change: min(change),
)
def test_every_detail_shows(change: dict[str, object]) -> None:
    assert np.any(pixels(**change) != pixels())


def test_the_host_stands_where_the_scene_says() -> None:
    assert np.any(pixels(side="left") != pixels(side="right"))
    assert any(np.array_equal(pixels(side=side), pixels()) for side in ("left", "right"))


def test_a_portrait_is_square() -> None:
    assert draw_portrait(FACE, "dusk", 1).size == (160, 160)
