"""How people look: a head and shoulders in a round medallion, the same features in every picture."""

from functools import lru_cache

from PIL import Image, ImageChops, ImageDraw

from components.world.entities import FaceSpec

Colour = tuple[int, int, int]

_SIDE = 300
"""Side of the square a bust is drawn on before it is scaled down, pixels."""

_INK = (46, 40, 48)
_SHADOW_OF = 0.82

_RIM, _INNER = 0.94, 0.87
"""Where the dark ring ends and where the bust is cut off, in radii."""

SKIN: dict[str, Colour] = {
    "porcelain": (250, 218, 196),
    "honey": (232, 184, 138),
    "bronze": (186, 126, 84),
    "umber": (92, 56, 42),
}

HAIR: dict[str, Colour] = {
    "black": (34, 30, 36),
    "brown": (138, 88, 44),
    "blond": (238, 200, 92),
    "copper": (202, 82, 30),
    "silver": (172, 176, 184),
    "violet": (122, 62, 160),
}

HAT: dict[str, Colour] = {"cap": (32, 124, 132), "tophat": (58, 54, 74), "beanie": (206, 70, 106)}

SHIRTS: tuple[Colour, ...] = (
    (70, 88, 130),
    (150, 70, 78),
    (84, 122, 96),
    (196, 150, 84),
    (96, 84, 120),
    (120, 124, 132),
)
"""Clothes change from picture to picture and tell nothing."""


class _Canvas:
    """Draws in a unit square around the bust, y downwards."""

    def __init__(self) -> None:
        self.image = Image.new("RGBA", (_SIDE, _SIDE), (0, 0, 0, 0))
        self._draw = ImageDraw.Draw(self.image)

    def ellipse(self, x: float, y: float, rx: float, ry: float, fill: Colour) -> None:
        self._draw.ellipse(_scaled(x - rx, y - ry, x + rx, y + ry), fill=fill)

    def ring(self, x: float, y: float, rx: float, ry: float, width: float, colour: Colour = _INK) -> None:
        self._draw.ellipse(_scaled(x - rx, y - ry, x + rx, y + ry), outline=colour, width=round(width * _SIDE))

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Colour, radius: float = 0.0) -> None:
        self._draw.rounded_rectangle(_scaled(x0, y0, x1, y1), radius * _SIDE, fill=fill)

    def frame(self, x0: float, y0: float, x1: float, y1: float, width: float) -> None:
        self._draw.rounded_rectangle(_scaled(x0, y0, x1, y1), 0.015 * _SIDE, outline=_INK, width=round(width * _SIDE))

    def chord(self, x: float, y: float, rx: float, ry: float, start: int, end: int, fill: Colour) -> None:
        self._draw.chord(_scaled(x - rx, y - ry, x + rx, y + ry), start, end, fill=fill)

    def arc(self, x: float, y: float, rx: float, ry: float, start: int, end: int, width: float, fill: Colour) -> None:
        box = _scaled(x - rx, y - ry, x + rx, y + ry)
        self._draw.arc(box, start, end, fill=fill, width=round(width * _SIDE))

    def line(self, points: list[tuple[float, float]], width: float, fill: Colour = _INK) -> None:
        self._draw.line([(x * _SIDE, y * _SIDE) for x, y in points], fill=fill, width=round(width * _SIDE))

    def polygon(self, points: list[tuple[float, float]], fill: Colour) -> None:
        self._draw.polygon([(x * _SIDE, y * _SIDE) for x, y in points], fill=fill)


def _scaled(*values: float) -> tuple[float, ...]:
    return tuple(value * _SIDE for value in values)


def _darker(colour: Colour, factor: float = _SHADOW_OF) -> Colour:
    return (round(colour[0] * factor), round(colour[1] * factor), round(colour[2] * factor))


def _hair_behind(canvas: _Canvas, face: FaceSpec) -> None:
    hair = HAIR[face.hair_colour]
    if face.hair_shape == "long":
        canvas.box(0.25, 0.26, 0.75, 0.86, hair, 0.2)
    elif face.hair_shape == "curly":
        for x, y in ((0.28, 0.3), (0.26, 0.44), (0.3, 0.56), (0.72, 0.3), (0.74, 0.44), (0.7, 0.56)):
            canvas.ellipse(x, y, 0.115, 0.115, hair)
        for x, y in ((0.38, 0.2), (0.5, 0.165), (0.62, 0.2)):
            canvas.ellipse(x, y, 0.115, 0.105, hair)
    elif face.hair_shape == "bun":
        canvas.ellipse(0.5, 0.13, 0.11, 0.095, hair)
        canvas.ellipse(0.5, 0.36, 0.235, 0.2, hair)
    elif face.hair_shape == "spiky":
        for x in (0.3, 0.4, 0.5, 0.6, 0.7):
            canvas.polygon([(x - 0.1, 0.4), (x + 0.1, 0.4), (0.5 + (x - 0.5) * 1.35, 0.07)], hair)


def _hair_front(canvas: _Canvas, face: FaceSpec) -> None:
    hair = HAIR[face.hair_colour]
    if face.hair_shape == "spiky":
        canvas.chord(0.5, 0.4, 0.215, 0.17, 180, 360, hair)
        return
    canvas.chord(0.5, 0.38, 0.225, 0.185, 176, 364, hair)
    if face.hair_shape == "long":
        canvas.box(0.26, 0.34, 0.325, 0.8, hair, 0.03)
        canvas.box(0.675, 0.34, 0.74, 0.8, hair, 0.03)
    elif face.hair_shape == "short":
        canvas.box(0.275, 0.36, 0.315, 0.46, hair, 0.015)
        canvas.box(0.685, 0.36, 0.725, 0.46, hair, 0.015)


def _beard(canvas: _Canvas, face: FaceSpec) -> None:
    hair = _darker(HAIR[face.hair_colour], 0.9)
    if face.beard == "full":
        canvas.chord(0.5, 0.53, 0.215, 0.24, 8, 172, hair)
        canvas.ellipse(0.5, 0.57, 0.13, 0.07, hair)
    elif face.beard == "goatee":
        canvas.box(0.42, 0.665, 0.58, 0.79, hair, 0.06)
    if face.beard in ("moustache", "full"):
        canvas.box(0.39, 0.565, 0.61, 0.62, hair, 0.025)


def _hat(canvas: _Canvas, face: FaceSpec) -> None:
    if face.hat == "none":
        return
    colour = HAT[face.hat]
    if face.hat == "cap":
        canvas.chord(0.5, 0.35, 0.235, 0.22, 180, 360, colour)
        canvas.box(0.42, 0.325, 0.82, 0.37, _darker(colour), 0.02)
    elif face.hat == "tophat":
        canvas.box(0.32, 0.05, 0.68, 0.33, colour, 0.02)
        canvas.box(0.32, 0.25, 0.68, 0.3, (196, 60, 70))
        canvas.box(0.22, 0.31, 0.78, 0.36, _darker(colour), 0.02)
    else:
        canvas.chord(0.5, 0.35, 0.24, 0.25, 180, 360, colour)
        canvas.box(0.255, 0.3, 0.745, 0.375, _darker(colour, 0.78), 0.03)
        canvas.ellipse(0.5, 0.09, 0.06, 0.055, (150, 40, 76))


def _features(canvas: _Canvas, smile: int) -> None:
    for x in (0.41, 0.59):
        canvas.ellipse(x, 0.465, 0.032, 0.034, (252, 252, 250))
        canvas.ellipse(x, 0.468, 0.02, 0.024, _INK)
        canvas.line([(x - 0.045, 0.415), (x + 0.045, 0.415)], 0.016)
    canvas.arc(0.5, 0.615, 0.06, 0.03 + 0.006 * smile, 15, 165, 0.018, (150, 50, 56))


def _glasses(canvas: _Canvas, face: FaceSpec) -> None:
    if face.glasses == "none":
        return
    for x in (0.405, 0.595):
        if face.glasses == "round":
            canvas.ring(x, 0.468, 0.082, 0.082, 0.022)
        else:
            canvas.box(x - 0.085, 0.405, x + 0.085, 0.525, (70, 74, 92), 0.015)
            canvas.line([(x - 0.05, 0.5), (x, 0.43)], 0.014, (168, 176, 196))
    canvas.line([(0.48, 0.455), (0.52, 0.455)], 0.02)


@lru_cache(maxsize=32)
def _bust(face: FaceSpec, shirt: int, smile: int) -> Image.Image:
    canvas, skin = _Canvas(), SKIN[face.skin]
    _hair_behind(canvas, face)
    canvas.ellipse(0.5, 1.06, 0.4, 0.26, SHIRTS[shirt])
    canvas.box(0.43, 0.66, 0.57, 0.86, _darker(skin, 0.88), 0.05)
    canvas.polygon([(0.42, 0.83), (0.58, 0.83), (0.5, 0.93)], _darker(skin, 0.88))
    for x in (0.29, 0.71):
        canvas.ellipse(x, 0.49, 0.035, 0.055, _darker(skin, 0.92))
    canvas.ellipse(0.5, 0.49, 0.205, 0.255, skin)
    _beard(canvas, face)
    canvas.line([(0.5, 0.49), (0.485, 0.545), (0.51, 0.55)], 0.014, _darker(skin, 0.75))
    _hair_front(canvas, face)
    _features(canvas, smile)
    _glasses(canvas, face)
    _hat(canvas, face)
    return canvas.image


@lru_cache(maxsize=64)
def _disc(radius: int, share: float) -> Image.Image:
    """A smooth disc of `share` times the radius in the middle of a square, L."""
    large = Image.new("L", (8 * radius, 8 * radius), 0)
    edge = 4 * radius * (1 - share)
    ImageDraw.Draw(large).ellipse([edge, edge, 8 * radius - 1 - edge, 8 * radius - 1 - edge], fill=255)
    return large.reduce(4)


def medallion(face: FaceSpec, radius: int, shirt: int, smile: int, tilt: int, wash: Colour) -> Image.Image:
    """A bust in a ringed disc, RGBA, `2 * radius` pixels square.

    Args:
        face: who is shown.
        radius: of the outer ring, pixels.
        shirt: index into `SHIRTS`.
        smile: 0 to 4.
        tilt: of the head, degrees.
        wash: colour of the disc behind the bust, light and nearly neutral.

    """
    side = (2 * radius, 2 * radius)
    bust = _bust(face, shirt, smile).resize(side, Image.Resampling.HAMMING)
    if tilt:
        bust = bust.rotate(tilt, Image.Resampling.BICUBIC, center=(radius, 1.2 * radius))
    image = Image.new("RGB", side, _INK)
    image.paste(wash, (0, 0), _disc(radius, _RIM))
    image.paste(bust, (0, 0), ImageChops.multiply(_disc(radius, _INNER), bust.getchannel("A")))
    image.putalpha(_disc(radius, 1.0))
    return image
