"""How countable things look. Both kinds of a look-alike pair share their colours; only the shape differs."""

import math
from collections.abc import Callable
from functools import cache, lru_cache

from PIL import Image, ImageDraw

from components.records.kinds import pair_of

_TILE = 160
"""Side of the tile a thing is drawn on before it is scaled down, pixels."""

_INK = (52, 46, 56)

_COLOURS: dict[tuple[str, str], tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, int, int]]] = {
    ("balloon", "lantern"): ((214, 48, 66), (236, 92, 104), (168, 30, 52)),
    ("boat", "drum"): ((236, 150, 14), (250, 184, 52), (206, 118, 8)),
    ("flag", "kite"): ((38, 96, 212), (84, 136, 236), (26, 66, 168)),
    ("tree", "umbrella"): ((28, 152, 82), (64, 184, 112), (18, 116, 62)),
}
"""Body, light and shade of each pair."""

Point = tuple[float, float]


class _Pen:
    """Draws in a unit square, y downwards."""

    def __init__(self, pair: tuple[str, str]) -> None:
        self.body, self.light, self.shade = _COLOURS[pair]
        self.image = Image.new("RGBA", (_TILE, _TILE), (*self.body, 0))
        self._draw = ImageDraw.Draw(self.image)

    def polygon(self, points: list[Point], fill: tuple[int, int, int]) -> None:
        self._draw.polygon([(x * _TILE, y * _TILE) for x, y in points], fill=fill)

    def ellipse(self, x: float, y: float, rx: float, ry: float, fill: tuple[int, int, int]) -> None:
        self._draw.ellipse([(x - rx) * _TILE, (y - ry) * _TILE, (x + rx) * _TILE, (y + ry) * _TILE], fill=fill)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: tuple[int, int, int], radius: float = 0) -> None:
        self._draw.rounded_rectangle([x0 * _TILE, y0 * _TILE, x1 * _TILE, y1 * _TILE], radius * _TILE, fill=fill)

    def line(self, points: list[Point], width: float, fill: tuple[int, int, int] = _INK) -> None:
        scaled = [(x * _TILE, y * _TILE) for x, y in points]
        self._draw.line(scaled, fill=fill, width=round(width * _TILE), joint="curve")


def _balloon(pen: _Pen) -> None:
    pen.line([(0.5, 0.72), (0.45, 0.84), (0.54, 0.98)], 0.03)
    pen.polygon([(0.5, 0.66), (0.42, 0.78), (0.58, 0.78)], pen.shade)
    pen.ellipse(0.5, 0.37, 0.31, 0.35, pen.shade)
    pen.ellipse(0.48, 0.36, 0.285, 0.335, pen.body)
    pen.ellipse(0.39, 0.24, 0.09, 0.11, pen.light)


def _lantern(pen: _Pen) -> None:
    pen.line([(0.5, 0.0), (0.5, 0.12)], 0.035)
    pen.line([(0.5, 0.84), (0.5, 1.0)], 0.05)
    pen.box(0.2, 0.14, 0.8, 0.82, pen.body, 0.07)
    for x in (0.32, 0.5, 0.68):
        pen.box(x - 0.022, 0.14, x + 0.022, 0.82, pen.shade)
    pen.box(0.2, 0.42, 0.8, 0.53, pen.light)
    pen.box(0.26, 0.07, 0.74, 0.14, _INK)
    pen.box(0.26, 0.82, 0.74, 0.89, _INK)


def _boat(pen: _Pen) -> None:
    pen.line([(0.5, 0.04), (0.5, 0.7)], 0.04)
    pen.polygon([(0.53, 0.05), (0.9, 0.6), (0.53, 0.6)], pen.light)
    pen.polygon([(0.47, 0.16), (0.47, 0.6), (0.16, 0.6)], pen.body)
    pen.box(0.46, 0.5, 0.54, 0.7, pen.body)
    pen.polygon([(0.02, 0.64), (0.98, 0.64), (0.78, 0.94), (0.2, 0.94)], pen.shade)


def _drum(pen: _Pen) -> None:
    pen.ellipse(0.5, 0.82, 0.36, 0.13, pen.shade)
    pen.box(0.14, 0.26, 0.86, 0.82, pen.body)
    zigzag = [(0.14 + 0.12 * step, 0.36 if step % 2 else 0.8) for step in range(7)]
    pen.line(zigzag, 0.035, pen.shade)
    pen.ellipse(0.5, 0.26, 0.36, 0.13, pen.shade)
    pen.ellipse(0.5, 0.25, 0.3, 0.09, pen.light)
    pen.line([(0.24, 0.02), (0.5, 0.22)], 0.04)
    pen.line([(0.76, 0.02), (0.5, 0.22)], 0.04)


def _flag(pen: _Pen) -> None:
    wave = [(0.2 + 0.75 * step / 20, 0.05 * math.sin(step / 20 * 2 * math.pi)) for step in range(21)]
    pen.polygon([(x, 0.12 + y) for x, y in wave] + [(x, 0.64 + y) for x, y in reversed(wave)], pen.body)
    pen.polygon([(x, 0.3 + y) for x, y in wave] + [(x, 0.46 + y) for x, y in reversed(wave)], pen.light)
    pen.line([(0.17, 0.05), (0.17, 1.0)], 0.06)
    pen.ellipse(0.17, 0.05, 0.05, 0.05, _INK)


def _kite(pen: _Pen) -> None:
    pen.line([(0.5, 0.72), (0.42, 0.82), (0.56, 0.9), (0.48, 1.0)], 0.03)
    pen.polygon([(0.5, 0.0), (0.86, 0.32), (0.5, 0.8), (0.14, 0.32)], pen.body)
    pen.polygon([(0.5, 0.0), (0.86, 0.32), (0.5, 0.32)], pen.light)
    pen.polygon([(0.5, 0.8), (0.14, 0.32), (0.5, 0.32)], pen.shade)


def _tree(pen: _Pen) -> None:
    pen.box(0.44, 0.78, 0.56, 1.0, (96, 76, 66))
    pen.polygon([(0.5, 0.34), (0.88, 0.82), (0.12, 0.82)], pen.shade)
    pen.polygon([(0.5, 0.16), (0.8, 0.58), (0.2, 0.58)], pen.body)
    pen.polygon([(0.5, 0.0), (0.7, 0.32), (0.3, 0.32)], pen.light)


def _umbrella(pen: _Pen) -> None:
    pen.line([(0.5, 0.02), (0.5, 0.86), (0.53, 0.94), (0.6, 0.96), (0.66, 0.88)], 0.045)
    pen.ellipse(0.5, 0.52, 0.47, 0.44, pen.body)
    pen._draw.chord([0.3 * _TILE, 0.08 * _TILE, 0.7 * _TILE, 0.96 * _TILE], 180, 360, fill=pen.light)
    _erase_below(pen, 0.53)
    for x in (0.13, 0.3, 0.5, 0.7, 0.87):
        pen.ellipse(x, 0.53, 0.09, 0.035, pen.shade)


def _erase_below(pen: _Pen, y: float) -> None:
    """Clear what lies under `y`, save the handle."""
    cleared = Image.new("RGBA", (_TILE, _TILE - round(y * _TILE)), (*pen.body, 0))
    pen.image.paste(cleared, (0, round(y * _TILE)))
    pen.line([(0.5, y), (0.5, 0.86), (0.53, 0.94), (0.6, 0.96), (0.66, 0.88)], 0.045)


_DRAW: dict[str, Callable[[_Pen], None]] = {
    "balloon": _balloon,
    "boat": _boat,
    "drum": _drum,
    "flag": _flag,
    "kite": _kite,
    "lantern": _lantern,
    "tree": _tree,
    "umbrella": _umbrella,
}


@cache
def _master(kind: str) -> Image.Image:
    pen = _Pen(pair_of(kind))
    _DRAW[kind](pen)
    return pen.image


@lru_cache(maxsize=4096)
def sprite(kind: str, size: int, tilt: int) -> Image.Image:
    """A thing as an RGBA picture of `size` x `size` pixels, turned by `tilt` degrees."""
    thing = _master(kind).resize((2 * size, 2 * size), Image.Resampling.BOX)
    return thing.rotate(tilt, Image.Resampling.BILINEAR).reduce(2)
