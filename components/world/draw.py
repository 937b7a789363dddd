"""Putting a picture together: background, things, people, signs, lettering, grain. Equal scenes give equal bytes."""

import io
import random
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from components.world.backdrops import backdrop
from components.world.entities import FaceSpec
from components.world.faces import SHIRTS, medallion
from components.world.icons import icon
from components.world.lettering import TITLE_BAND, foot_band, print_lines
from components.world.objects import sprite
from components.world.styles import STYLES, Colour

_BASE = (320, 240)
"""The size that distances below are given for, pixels."""

_MARGIN = 8
_RADIUS = 50
_HOST_BESIDE_GUEST, _GUEST = 41, 31
"""Radii when two people share the room of one."""

_ICON = 24
_HANDSHAKE: Colour = (46, 40, 48)
_COLUMNS, _ROWS = 5, 3


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
    side: str | None = None
    """Where the host stands, left or right; None leaves it to the composition."""
    guest: FaceSpec | None = None
    action: str | None = None
    sky: str | None = None
    foot_lines: int = 2
    """For how many printed lines room is kept below, printed or not; pictures of one event share it."""
    title: str | None = None
    below: tuple[str, ...] = ()
    """Lines printed below: the detail if it is text, the venue, the date."""
    width: int = 320
    height: int = 240


@dataclass(frozen=True)
class _Frame:
    """Where things and people go, in pixels."""

    unit: float
    person_left: bool
    top: int
    bottom: int
    width: int

    @property
    def person_width(self) -> int:
        return round((2 * _RADIUS + 2 * _MARGIN) * self.unit)

    @property
    def person_x(self) -> float:
        """The middle of the people's column."""
        middle = (_MARGIN + _RADIUS) * self.unit
        return middle if self.person_left else self.width - middle

    @property
    def outside_x(self) -> float:
        """The middle of a sign at the outer edge of the people's column."""
        middle = (_MARGIN + _ICON / 2) * self.unit
        return middle if self.person_left else self.width - middle


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
    frame = _frame(scene, composition)
    _paste_things(image, scene, composition, rng, frame)
    _paste_people(image, scene, rng, frame)
    _paste_signs(image, scene, frame)
    letters = random.Random(f"letters-{scene.seed}")
    print_lines(image, style, scene.title, list(scene.below), frame.unit, letters)
    return _grain(image, style.noise, rng)


def draw_portrait(face: FaceSpec, style: str, seed: int, side: int = 160) -> Image.Image:
    """An official portrait: the medallion alone on a plain ground, RGB."""
    rng = random.Random(f"portrait-{seed}")
    image = backdrop(STYLES[style], (side, side), rng)
    _paste_disc(image, face, round(side * 0.44), (side // 2, side // 2), rng, tilt=0)
    return _grain(image, STYLES[style].noise, rng)


def _frame(scene: Scene, composition: random.Random) -> _Frame:
    unit = min(scene.width / _BASE[0], scene.height / _BASE[1])
    by_chance = composition.random() < 0.5
    return _Frame(
        unit=unit,
        person_left=by_chance if scene.side is None else scene.side == "left",
        top=round(TITLE_BAND * unit),
        bottom=scene.height - round(foot_band(scene.foot_lines) * unit),
        width=scene.width,
    )


def _paste_things(
    image: Image.Image, scene: Scene, composition: random.Random, rng: random.Random, frame: _Frame
) -> None:
    """Things on a jittered grid beside the person; no two touch."""
    unit = frame.unit
    left = frame.person_width if frame.person_left else round(_MARGIN * unit)
    right = scene.width - (round(_MARGIN * unit) if frame.person_left else frame.person_width)
    cell = ((right - left) / _COLUMNS, (frame.bottom - frame.top) / _ROWS)
    size = round(min(cell[0] - 3 * unit, cell[1] - 4 * unit, composition.randint(33, 36) * unit))
    cells = [(column, row) for column in range(_COLUMNS) for row in range(_ROWS)]
    composition.shuffle(cells)
    for column, row in cells[: scene.count]:
        slack = (cell[0] - size - 3 * unit, cell[1] - size - 3 * unit)
        x = left + column * cell[0] + 1.5 * unit + _share(composition, rng) * max(slack[0], 0)
        y = frame.top + row * cell[1] + 1.5 * unit + _share(composition, rng) * max(slack[1], 0)
        thing = sprite(scene.kind, size, composition.choice((-4, 0, 4)))
        image.paste(thing, (round(x), round(y)), thing)


def _share(composition: random.Random, rng: random.Random) -> float:
    """A place within the slack: mostly the event's, a little the picture's own."""
    return 0.8 * composition.random() + 0.2 * rng.random()


def _paste_people(image: Image.Image, scene: Scene, rng: random.Random, frame: _Frame) -> None:
    """The host; and below, hand in hand, a guest."""
    unit, x = frame.unit, round(frame.person_x)
    if scene.guest is None:
        y = (frame.top + frame.bottom) / 2 + rng.randint(-6, 6) * unit
        _paste_disc(image, scene.face, round(_RADIUS * unit) + rng.randint(-2, 0), (x, round(y)), rng)
        return
    host, guest = (round(radius * unit) for radius in (_HOST_BESIDE_GUEST, _GUEST))
    spare = frame.bottom - frame.top - 2 * (host + guest)
    first = frame.top + host + round(spare / 4) + rng.randint(-1, 1)
    second = frame.bottom - guest - round(spare / 4)
    ImageDraw.Draw(image).line([(x, first), (x, second)], fill=_HANDSHAKE, width=round(14 * unit))
    _paste_disc(image, scene.face, host, (x, first), rng)
    _paste_disc(image, scene.guest, guest, (x + rng.randint(-3, 3), second), rng)


def _paste_disc(
    image: Image.Image,
    face: FaceSpec,
    radius: int,
    middle: tuple[int, int],
    rng: random.Random,
    tilt: int | None = None,
) -> None:
    shirt, smile = rng.randrange(len(SHIRTS)), rng.randrange(5)
    disc = medallion(face, radius, shirt, smile, rng.randint(-3, 3) if tilt is None else tilt, _wash(rng))
    image.paste(disc, (middle[0] - radius, middle[1] - radius), disc)


def _wash(rng: random.Random) -> Colour:
    level = rng.randint(238, 246)
    return (level, level - rng.randint(0, 4), level - rng.randint(2, 10))


def _paste_signs(image: Image.Image, scene: Scene, frame: _Frame) -> None:
    """What the sky shows above the person, what the person does below."""
    size = round(_ICON * frame.unit)
    edge = 3 * frame.unit
    for name, y in ((scene.sky, frame.top + edge), (scene.action, frame.bottom - edge - size)):
        if name is not None:
            sign = icon(name, size)
            image.paste(sign, (round(frame.outside_x - size / 2), round(y)), sign)


def _grain(image: Image.Image, deviation: float, rng: random.Random) -> Image.Image:
    """Grey film grain, and a slight change of exposure."""
    noise = np.random.default_rng(rng.randrange(2**32))
    grain = noise.standard_normal((image.height, image.width, 1), np.float32) * deviation + rng.uniform(-4, 4)
    exposed = np.asarray(image).astype(np.int16) + np.rint(grain).astype(np.int16)
    return Image.fromarray(exposed.clip(0, 255).astype(np.uint8))
