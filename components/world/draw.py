"""Putting a picture together: background, things, a person, lettering, grain. Equal scenes give equal bytes."""

import io
import random
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from components.world.backdrops import backdrop
from components.world.entities import FaceSpec
from components.world.faces import SHIRTS, medallion
from components.world.objects import sprite
from components.world.styles import STYLES, Colour, Style, font

_BASE = (320, 240)
"""The size that distances below are given for, pixels."""

_TITLE_BAND, _FOOT_BAND, _MARGIN = 38, 50, 8
_RADIUS = 50
_COLUMNS, _ROWS = 5, 3

_WORD_GAP = 1.35
"""Printed words stand this many spaces apart, as on a poster; closer ones are read as one word."""


@dataclass(frozen=True)
class Scene:
    """What a picture is to show."""

    face: FaceSpec
    kind: str
    count: int
    composition: int
    """Seed of the arrangement; pictures of one event share it."""
    style: str
    seed: int
    """Seed of everything that differs between pictures of one event: grain, jitter, clothes."""
    title: str | None = None
    venue: str | None = None
    date: str | None = None
    width: int = 320
    height: int = 240


def encode_png(image: Image.Image) -> bytes:
    """PNG bytes without any metadata; equal pictures give equal bytes."""
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", compress_level=1)
    return buffer.getvalue()


def draw_scene(scene: Scene) -> Image.Image:
    """The picture of a scene, RGB."""
    style, rng = STYLES[scene.style], random.Random(f"scene-{scene.seed}")
    image = backdrop(style, (scene.width, scene.height), rng)
    composition = random.Random(f"composition-{scene.composition}")
    person_left = composition.random() < 0.5
    _paste_things(image, scene, composition, rng, person_left)
    _paste_person(image, scene, rng, person_left)
    _letter(image, scene, style)
    return _grain(image, style.noise, rng)


def draw_portrait(face: FaceSpec, style: str, seed: int, side: int = 160) -> Image.Image:
    """An official portrait: the medallion alone on a plain ground, RGB."""
    rng = random.Random(f"portrait-{seed}")
    image = backdrop(STYLES[style], (side, side), rng)
    radius = round(side * 0.44)
    disc = medallion(face, radius, rng.randrange(len(SHIRTS)), rng.randrange(5), 0, _wash(rng))
    image.paste(disc, (side // 2 - radius, side // 2 - radius), disc)
    return _grain(image, STYLES[style].noise, rng)


def _unit(scene: Scene) -> float:
    return min(scene.width / _BASE[0], scene.height / _BASE[1])


def _wash(rng: random.Random) -> Colour:
    level = rng.randint(238, 246)
    return (level, level - rng.randint(0, 4), level - rng.randint(2, 10))


def _paste_things(
    image: Image.Image, scene: Scene, composition: random.Random, rng: random.Random, person_left: bool
) -> None:
    """Things on a jittered grid beside the person; no two touch."""
    unit = _unit(scene)
    person = round((2 * _RADIUS + 2 * _MARGIN) * unit)
    left = person if person_left else round(_MARGIN * unit)
    right = scene.width - (round(_MARGIN * unit) if person_left else person)
    top, bottom = round(_TITLE_BAND * unit), scene.height - round(_FOOT_BAND * unit)
    cell = ((right - left) / _COLUMNS, (bottom - top) / _ROWS)
    size = round(min(cell[0] - 3 * unit, cell[1] - 4 * unit, composition.randint(33, 36) * unit))
    cells = [(column, row) for column in range(_COLUMNS) for row in range(_ROWS)]
    composition.shuffle(cells)
    for column, row in cells[: scene.count]:
        slack = (cell[0] - size - 3 * unit, cell[1] - size - 3 * unit)
        x = left + column * cell[0] + 1.5 * unit + _share(composition, rng) * max(slack[0], 0)
        y = top + row * cell[1] + 1.5 * unit + _share(composition, rng) * max(slack[1], 0)
        thing = sprite(scene.kind, size, composition.choice((-4, 0, 4)))
        image.paste(thing, (round(x), round(y)), thing)


def _share(composition: random.Random, rng: random.Random) -> float:
    """A place within the slack: mostly the event's, a little the picture's own."""
    return 0.8 * composition.random() + 0.2 * rng.random()


def _paste_person(image: Image.Image, scene: Scene, rng: random.Random, person_left: bool) -> None:
    unit = _unit(scene)
    radius = round(_RADIUS * unit) + rng.randint(-2, 0)
    disc = medallion(scene.face, radius, rng.randrange(len(SHIRTS)), rng.randrange(5), rng.randint(-3, 3), _wash(rng))
    middle = (_MARGIN + _RADIUS) * unit
    x = middle if person_left else scene.width - middle
    top, bottom = _TITLE_BAND * unit, scene.height - _FOOT_BAND * unit
    y = (top + bottom) / 2 + rng.randint(-6, 6) * unit
    image.paste(disc, (round(x) - radius, round(y) - radius), disc)


def _letter(image: Image.Image, scene: Scene, style: Style) -> None:
    """Title above, venue and date below, each on a plate; place and size vary a little from picture to picture."""
    unit, draw, rng = _unit(scene), ImageDraw.Draw(image), random.Random(f"letters-{scene.seed}")
    small, lines = rng.choice((15, 16, 17)), []
    if scene.title is not None:
        draw.rectangle([0, 0, scene.width, round(32 * unit)], fill=style.band)
        lines.append((scene.title, style.title_font, 21, 16 * unit))
    if scene.venue is not None or scene.date is not None:
        draw.rectangle([0, scene.height - round(47 * unit), scene.width, scene.height], fill=style.band)
    if scene.venue is not None:
        lines.append((scene.venue, style.text_font, small, scene.height - 34 * unit))
    if scene.date is not None:
        lines.append((scene.date, style.text_font, small, scene.height - 13 * unit))
    for text, face, size, y in lines:
        middle = (scene.width / 2 + rng.randint(-6, 6) * unit, y)
        _centred(draw, text, middle, face, round(size * unit), style.ink, scene.width - 28 * unit)


def _centred(
    draw: ImageDraw.ImageDraw,
    text: str,
    middle: tuple[float, float],
    face: str,
    size: int,
    ink: Colour,
    width: float,
) -> None:
    """Print a line around `middle`, words set a little apart, smaller where it would not fit `width`."""
    words = text.split(" ")
    while True:
        letters = font(face, size)
        gap = letters.getlength(" ") * _WORD_GAP
        total = sum(map(letters.getlength, words)) + gap * (len(words) - 1)
        if total <= width or size <= 8:
            break
        size -= 1
    x = middle[0] - total / 2
    for word in words:
        draw.text((round(x), round(middle[1])), word, fill=ink, font=letters, anchor="lm")
        x += letters.getlength(word) + gap


def _grain(image: Image.Image, deviation: float, rng: random.Random) -> Image.Image:
    """Grey film grain, and a slight change of exposure."""
    noise = np.random.default_rng(rng.randrange(2**32))
    grain = noise.standard_normal((image.height, image.width, 1), np.float32) * deviation + rng.uniform(-4, 4)
    exposed = np.asarray(image).astype(np.int16) + np.rint(grain).astype(np.int16)
    return Image.fromarray(exposed.clip(0, 255).astype(np.uint8))
