"""Parts of a picture: cropped, widened, and enlarged where they are small."""

from collections.abc import Sequence

from PIL import Image

from components.tools.perception import Box, Scope
from components.tools.sight import Sight

MOST_REGIONS = 4
_WIDER, _UNION_WIDER = 0.06, 0.08
"""How much a region, and a view of all regions, is widened, as a share of its own size."""
_LEAST_SIDE = 192
"""A view has its longer side at least so long, pixels."""


def views_of(image: Sight, scope: Scope, regions: Sequence[Box]) -> list[Sight]:
    """The whole picture, then each region; where a relation is looked for, all regions in one view as well."""
    boxes = [_wider(box, _WIDER) for box in regions[:MOST_REGIONS]]
    if scope == "relation" and len(boxes) > 1:
        sides = list(zip(*regions[:MOST_REGIONS], strict=True))
        union = (min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3]))
        boxes.append(_wider(union, _UNION_WIDER))
    return [image, *(cropped(image, box) for box in boxes)]


def cropped(image: Sight, box: Box) -> Sight:
    """A part; at least one pixel of the picture."""
    width, height = image.image.size
    left, top = min(int(box[0] * width), width - 1), min(int(box[1] * height), height - 1)
    right, bottom = max(left + 1, round(box[2] * width)), max(top + 1, round(box[3] * height))
    part = image.image.crop((left, top, min(right, width), min(bottom, height)))
    scale = max(1.0, _LEAST_SIDE / max(part.size))
    size = (max(1, round(part.width * scale)), max(1, round(part.height * scale)))
    return Sight(part if size == part.size else part.resize(size, Image.Resampling.LANCZOS))


def _wider(box: Box, share: float) -> Box:
    x, y = (box[2] - box[0]) * share, (box[3] - box[1]) * share
    return max(0.0, box[0] - x), max(0.0, box[1] - y), min(1.0, box[2] + x), min(1.0, box[3] + y)
