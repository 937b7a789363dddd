"""Quiet backgrounds: a gradient and one pattern a style, always of low chroma."""

import math
import random
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from components.world.styles import Colour, Style

_JITTER = 7
"""How far a picture's ground may depart from its style's, grey levels a channel."""

_SCALE = 2
"""Patterns are drawn this many times larger, so that their edges come out smooth."""


def backdrop(style: Style, size: tuple[int, int], rng: random.Random) -> Image.Image:
    """The ground of a picture, RGB, `size` = (width, height) pixels."""
    shift = [rng.randint(-_JITTER, _JITTER) for _ in range(3)]
    top, bottom = _shifted(style.top, shift), _shifted(style.bottom, shift)
    image = _gradient(top, bottom, size)
    overlay = Image.new("RGBA", (size[0] * _SCALE, size[1] * _SCALE), (0, 0, 0, 0))
    _DECOR[style.decor](ImageDraw.Draw(overlay), overlay.size, rng)
    overlay = overlay.reduce(_SCALE)
    image.paste(overlay, (0, 0), overlay)
    return image.filter(ImageFilter.BoxBlur(6)) if style.decor == "blobs" else image


def _shifted(colour: Colour, shift: list[int]) -> Colour:
    grey = sum(shift) // 3
    return (
        _byte(colour[0] + grey + (shift[0] - grey) // 2),
        _byte(colour[1] + grey + (shift[1] - grey) // 2),
        _byte(colour[2] + grey + (shift[2] - grey) // 2),
    )


def _byte(value: float) -> int:
    return int(min(255, max(0, value)))


def _gradient(top: Colour, bottom: Colour, size: tuple[int, int]) -> Image.Image:
    share = np.linspace(0, 1, size[1])[:, None, None]
    rows = np.asarray(top)[None, None, :] * (1 - share) + np.asarray(bottom)[None, None, :] * share
    return Image.fromarray(np.broadcast_to(np.rint(rows).astype(np.uint8), (size[1], size[0], 3)).copy())


def _rays(draw: ImageDraw.ImageDraw, size: tuple[int, int], rng: random.Random) -> None:
    x, y = size[0] * rng.uniform(0.3, 0.7), size[1] * rng.uniform(0.9, 1.3)
    offset, far = rng.uniform(0, 20), 2 * max(size)
    for start in range(0, 360, 20):
        angles = [math.radians(start + offset), math.radians(start + offset + 10)]
        points = [(x, y), *((x + far * math.cos(angle), y + far * math.sin(angle)) for angle in angles)]
        draw.polygon(points, fill=(255, 250, 238, 90))


def _stars(draw: ImageDraw.ImageDraw, size: tuple[int, int], rng: random.Random) -> None:
    for _ in range(70):
        x, y, r = rng.uniform(0, size[0]), rng.uniform(0, size[1] * 0.8), rng.uniform(0.8, 2.4)
        draw.ellipse([x - r, y - r, x + r, y + r], fill=(236, 234, 226, rng.randint(60, 130)))
    _hill(draw, size, rng, 0.86, (38, 40, 54, 150))


def _hills(draw: ImageDraw.ImageDraw, size: tuple[int, int], rng: random.Random) -> None:
    for height, colour in ((0.5, (196, 206, 190, 150)), (0.66, (184, 196, 178, 160)), (0.8, (172, 186, 168, 170))):
        _hill(draw, size, rng, height, colour)


def _hill(
    draw: ImageDraw.ImageDraw,
    size: tuple[int, int],
    rng: random.Random,
    height: float,
    colour: tuple[int, int, int, int],
) -> None:
    phase, waves = rng.uniform(0, 2 * math.pi), rng.uniform(1.0, 2.0)
    line = [
        (x, size[1] * (height + 0.05 * math.sin(phase + waves * 2 * math.pi * x / size[0])))
        for x in range(0, size[0] + 8, 8)
    ]
    draw.polygon([*line, (size[0], size[1]), (0, size[1])], fill=colour)


def _dots(draw: ImageDraw.ImageDraw, size: tuple[int, int], rng: random.Random) -> None:
    step, offset = 14, rng.randint(0, 13)
    for row, y in enumerate(range(-offset, size[1] + step, step)):
        radius = 1.5 + 2.6 * max(0.0, y / size[1])
        for x in range((row % 2) * step // 2 - offset, size[0] + step, step):
            draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=(204, 202, 200, 150))


def _weave(draw: ImageDraw.ImageDraw, size: tuple[int, int], rng: random.Random) -> None:
    step, offset = 12, rng.randint(0, 11)
    for x in range(offset, size[0], step):
        draw.line([(x, 0), (x, size[1])], fill=(252, 242, 238, 110), width=4)
    for y in range(offset, size[1], step):
        draw.line([(0, y), (size[0], y)], fill=(186, 168, 168, 70), width=3)


def _blobs(draw: ImageDraw.ImageDraw, size: tuple[int, int], rng: random.Random) -> None:
    for _ in range(12):
        x, y, r = rng.uniform(0, size[0]), rng.uniform(0, size[1]), rng.uniform(0.1, 0.25) * size[1]
        tone = rng.choice(((238, 238, 236), (176, 184, 192)))
        draw.ellipse([x - r, y - r, x + r, y + r], fill=(*tone, 150))


_DECOR: dict[str, Callable[[ImageDraw.ImageDraw, tuple[int, int], random.Random], None]] = {
    "blobs": _blobs,
    "dots": _dots,
    "hills": _hills,
    "rays": _rays,
    "stars": _stars,
    "weave": _weave,
}
