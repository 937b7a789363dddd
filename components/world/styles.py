"""Generator styles: palette, texture and lettering of a picture. No style says anything about what is true.

Backgrounds keep a low chroma and objects a high one, as on a screen-printed poster.
"""

from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from PIL import ImageFont

from components.errors import EviflowError
from components.records.case import Split

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Style:
    """One generator style."""

    name: str
    top: Colour
    """Background at the upper edge."""
    bottom: Colour
    """Background at the lower edge."""
    decor: str
    """Which quiet pattern is drawn behind the scene."""
    ink: Colour
    """Lettering and lines."""
    band: Colour
    """Plate behind the lettering."""
    title_font: str
    text_font: str
    noise: float
    """Standard deviation of the grain, in grey levels."""


STYLES: dict[str, Style] = {
    style.name: style
    for style in (
        Style(
            "poster",
            (240, 229, 208),
            (228, 212, 188),
            "rays",
            (44, 38, 52),
            (249, 242, 226),
            "Sans-Bold",
            "Sans-Bold",
            0.6,
        ),
        Style(
            "dusk", (50, 55, 74), (92, 90, 108), "stars", (248, 242, 228), (36, 38, 54), "Serif-Bold", "Sans-Bold", 0.9
        ),
        Style(
            "meadow",
            (206, 219, 224),
            (222, 224, 208),
            "hills",
            (30, 44, 48),
            (246, 244, 236),
            "Serif-Bold",
            "Serif-Bold",
            1.0,
        ),
        Style(
            "print",
            (236, 234, 228),
            (224, 222, 218),
            "dots",
            (246, 244, 238),
            (46, 46, 54),
            "Sans-Bold",
            "Sans-Bold",
            0.4,
        ),
        Style(
            "linen",
            (230, 216, 212),
            (216, 202, 200),
            "weave",
            (58, 34, 40),
            (244, 236, 230),
            "Sans-Bold",
            "Serif-Bold",
            0.8,
        ),
        Style(
            "mist",
            (212, 216, 220),
            (196, 204, 206),
            "blobs",
            (26, 32, 42),
            (228, 232, 234),
            "Serif-Bold",
            "Sans-Bold",
            1.1,
        ),
    )
}
"""Every style by name."""

TEST_ONLY: tuple[str, ...] = ("linen", "mist")
"""Styles that no training picture has."""

STYLES_BY_SPLIT: dict[Split, tuple[str, ...]] = {
    Split.TRAIN: tuple(name for name in STYLES if name not in TEST_ONLY),
    Split.TEST: tuple(STYLES),
}


@lru_cache
def font(face: str, size: int) -> ImageFont.FreeTypeFont:
    """A DejaVu font at `size` pixels, for instance `Sans-Bold`. The files come with matplotlib, which mlflow requires.

    Raises:
        EviflowError: matplotlib is not installed.

    """
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise EviflowError("matplotlib's fonts are missing; install the project's dependencies with `make install`")
    return ImageFont.truetype(Path(spec.origin).parent / "mpl-data/fonts/ttf" / f"DejaVu{face}.ttf", size)
