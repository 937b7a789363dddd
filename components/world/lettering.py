"""What a picture prints: a title above, lines below, each on a plate."""

import random

from PIL import Image, ImageDraw

from components.world.styles import Colour, Style, font

TITLE_BAND = 38
"""Room that is kept for a title, pixels of a picture 240 high."""

_FOOT_BAND = {2: 50, 3: 68}
"""Room below, by the number of lines."""

_LINE = 21
"""From line to line."""

_WORD_GAP = 1.35
"""Printed words stand this many spaces apart, as on a poster; closer ones are read as one word."""


def foot_band(lines: int) -> int:
    """Room that is kept for so many lines below, pixels of a picture 240 high."""
    return _FOOT_BAND[max(lines, 2)]


def print_lines(
    image: Image.Image, style: Style, title: str | None, below: list[str], unit: float, rng: random.Random
) -> None:
    """Print onto `image`; place and size vary a little from picture to picture.

    Args:
        image: RGB, changed in place.
        style: lettering and plates.
        title: above; None for no title.
        below: lines, the first one on top; empty for none.
        unit: pixels for one pixel of a picture 240 high.
        rng: of the picture.

    """
    draw, small = ImageDraw.Draw(image), rng.choice((15, 16, 17))
    lines = []
    if title is not None:
        draw.rectangle([0, 0, image.width, round(32 * unit)], fill=style.band)
        lines.append((title, style.title_font, 21, 16 * unit))
    if below:
        draw.rectangle([0, image.height - round((foot_band(len(below)) - 3) * unit), image.width, image.height],
                       fill=style.band)  # fmt: skip
    for place, text in enumerate(reversed(below)):
        lines.append((text, style.text_font, small, image.height - (13 + place * _LINE) * unit))
    for text, face, size, y in lines:
        middle = (image.width / 2 + rng.randint(-6, 6) * unit, y)
        _centred(draw, text, middle, face, round(size * unit), style.ink, image.width - 28 * unit)


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
