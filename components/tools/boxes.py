"""Boxes as tools and models write them, made shares of width and height."""

import json
from collections.abc import Sequence
from typing import Any

from components.tools.perception import Box

_THOUSAND = 1000
_LARGEST = 1_000_000
"""No picture has a longer side, pixels."""


def shares(values: Any, size: tuple[int, int] | None = None, *, yxyx: bool = False) -> Box | None:
    """A box as shares; None for one that is none.

    Args:
        values: four numbers: shares up to 1, else thousandths up to 1000, else pixels.
        size: of the picture; None where pixels cannot be meant.
        yxyx: whether thousandths come as y1, x1, y2, x2, as Gemini writes them.

    """
    if not isinstance(values, list | tuple) or len(values) != 4 or not all(_is_number(side) for side in values):
        return None
    sides = [float(side) for side in values]
    if max(sides) > 1:
        if any(0 < side < 1 for side in sides):
            # Shares and thousandths in one box: no telling which.
            return None
        scale = _scale(sides, size, yxyx=yxyx)
        if scale is None:
            return None
        sides = [side / length for side, length in zip(sides, scale, strict=True)]
        if yxyx:
            sides = [sides[1], sides[0], sides[3], sides[2]]
    left, top, right, bottom = sides
    return (left, top, right, bottom) if 0 <= left < right <= 1 and 0 <= top < bottom <= 1 else None


def _scale(sides: Sequence[float], size: tuple[int, int] | None, *, yxyx: bool) -> tuple[float, ...] | None:
    if max(sides) <= _THOUSAND:
        return (_THOUSAND,) * 4
    return None if size is None or yxyx else (*size, *size)


def _is_number(value: Any) -> bool:
    # Neither NaN nor a number too large for a float is within the limits.
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def with_shares(raw: Any, *, yxyx: bool = False) -> tuple[Any, list[str]]:
    """A model's JSON with every `bbox` as shares or None, and a warning for each that was dropped."""
    warnings: list[str] = []

    def walk(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {key: box(item, path) if key == "bbox" else walk(item, key) for key, item in value.items()}
        return [walk(item, f"{path} {at}") for at, item in enumerate(value)] if isinstance(value, list) else value

    def box(value: Any, path: str) -> Box | None:
        found = shares(value, yxyx=yxyx)
        if found is None and value not in (None, []):
            warnings.append(f"{path}: a box that cannot be read was dropped")
        return found

    return walk(raw, "reply"), warnings


def parse_box(value: Any) -> Any:
    """`x1,y1,x2,y2` as text, with or without brackets; a list is taken as it is."""
    if not isinstance(value, str):
        return value
    return value.strip().strip("[]()").split(",")


def parse_boxes(value: Any) -> Any:
    """Boxes as a JSON list, or as text with semicolons between them."""
    return [parse_box(item) for item in parse_list(value, ";")] if isinstance(value, str | list) else value


def parse_list(value: Any, separator: str = ",") -> Any:
    """A JSON list, or text with separators; a list is taken as it is."""
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, list):
        flat = separator == ";" and len(found) == 4 and all(_is_number(item) for item in found)
        return [found] if flat else found
    return [item.strip() for item in value.split(separator) if item.strip()]
