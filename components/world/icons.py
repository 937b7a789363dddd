"""Small signs beside a person: what the host does, and what the sky shows. Each group has one colour of its own."""

from collections.abc import Callable
from functools import lru_cache

from PIL import Image, ImageDraw

Colour = tuple[int, int, int]

_TILE = 192
"""Side of the tile a sign is drawn on before it is scaled down, pixels."""

ACTION_COLOUR: Colour = (196, 32, 150)
SKY_COLOUR: Colour = (0, 146, 158)


class _Pen:
    """Draws in a unit square, y downwards, in one colour."""

    def __init__(self, colour: Colour) -> None:
        self._colour = colour
        self.image = Image.new("RGBA", (_TILE, _TILE), (*colour, 0))
        self._draw = ImageDraw.Draw(self.image)

    def ellipse(self, x: float, y: float, rx: float, ry: float) -> None:
        self._draw.ellipse(self._scaled(x - rx, y - ry, x + rx, y + ry), fill=(*self._colour, 255))

    def box(self, x0: float, y0: float, x1: float, y1: float) -> None:
        self._draw.rectangle(self._scaled(x0, y0, x1, y1), fill=(*self._colour, 255))

    def polygon(self, points: list[tuple[float, float]]) -> None:
        self._draw.polygon([(x * _TILE, y * _TILE) for x, y in points], fill=(*self._colour, 255))

    def arch(self, x: float, y: float, radius: float, width: float) -> None:
        box = self._scaled(x - radius, y - radius, x + radius, y + radius)
        self._draw.arc(box, 180, 360, fill=(*self._colour, 255), width=round(width * _TILE))

    def erase(self, x: float, y: float, radius: float) -> None:
        box = self._scaled(x - radius, y - radius, x + radius, y + radius)
        self._draw.ellipse(box, fill=(*self._colour, 0))

    @staticmethod
    def _scaled(*values: float) -> tuple[float, ...]:
        return tuple(value * _TILE for value in values)


def _cooking(pen: _Pen) -> None:
    """A wide pot with two handles."""
    pen.box(0.14, 0.36, 0.86, 0.78)
    pen.box(0.0, 0.36, 1.0, 0.5)


def _juggling(pen: _Pen) -> None:
    """Three balls."""
    for x, y in ((0.17, 0.72), (0.5, 0.2), (0.83, 0.72)):
        pen.ellipse(x, y, 0.17, 0.17)


def _reading(pen: _Pen) -> None:
    """The two pages of an open book."""
    pen.polygon([(0.0, 0.14), (0.4, 0.28), (0.4, 0.9), (0.0, 0.76)])
    pen.polygon([(1.0, 0.14), (0.6, 0.28), (0.6, 0.9), (1.0, 0.76)])


def _singing(pen: _Pen) -> None:
    """A note."""
    pen.ellipse(0.26, 0.84, 0.22, 0.15)
    pen.box(0.38, 0.02, 0.5, 0.84)
    pen.polygon([(0.4, 0.02), (0.86, 0.22), (0.86, 0.42), (0.4, 0.22)])


def _moon(pen: _Pen) -> None:
    """A crescent."""
    pen.ellipse(0.5, 0.5, 0.5, 0.5)
    pen.erase(0.76, 0.38, 0.44)


def _rain(pen: _Pen) -> None:
    """Three drops."""
    for x, y in ((0.14, 0.1), (0.5, 0.3), (0.86, 0.1)):
        pen.polygon([(x, y), (x - 0.13, y + 0.42), (x + 0.13, y + 0.42)])
        pen.ellipse(x, y + 0.44, 0.13, 0.13)


def _rainbow(pen: _Pen) -> None:
    """A broad arch."""
    pen.arch(0.5, 0.76, 0.5, 0.22)


def _sun(pen: _Pen) -> None:
    """A disc."""
    pen.ellipse(0.5, 0.5, 0.42, 0.42)


_DRAW: dict[str, tuple[Callable[[_Pen], None], Colour]] = {
    "cooking": (_cooking, ACTION_COLOUR),
    "juggling": (_juggling, ACTION_COLOUR),
    "reading": (_reading, ACTION_COLOUR),
    "singing": (_singing, ACTION_COLOUR),
    "moon": (_moon, SKY_COLOUR),
    "rain": (_rain, SKY_COLOUR),
    "rainbow": (_rainbow, SKY_COLOUR),
    "sun": (_sun, SKY_COLOUR),
}


@lru_cache(maxsize=64)
def icon(name: str, size: int) -> Image.Image:
    """A sign as an RGBA picture of `size` x `size` pixels; raises KeyError for an unknown name."""
    draw, colour = _DRAW[name]
    pen = _Pen(colour)
    draw(pen)
    return pen.image.resize((size, size), Image.Resampling.BOX)
