"""Tools that look at the case's picture: its scene, its printed text, the number of its things, one part of it."""

import asyncio
from typing import Annotated, Any

from PIL import Image
from pydantic import BeforeValidator, Field

from components.tools import messages
from components.tools.base import Arguments, CaseState, NoArguments, ToolFamily, ToolResult
from components.tools.boxes import parse_box
from components.tools.clients.baidu_ocr import BaiduOcrClient, PrintedLine
from components.tools.clients.pictures import LONGEST_SIDE, encode_png
from components.tools.failures import attributed, nothing
from components.tools.perception import Box, Perception
from components.tools.printed import in_reading_order

_CROP_SIDE = 192
"""Longest side of an enlarged crop, at least, pixels."""
_SHORTEST_SIDE = 16
"""A text reader refuses less, pixels."""


class CropArguments(Arguments):
    """A part of the picture."""

    bbox: Annotated[Box, BeforeValidator(parse_box)] = Field(
        description="x1,y1,x2,y2 between 0 and 1.", json_schema_extra={"type": "string"}
    )


class CountArguments(Arguments):
    """What to count."""

    target_object: str = Field(min_length=1, description="What to count, singular.")


class Looking:
    """What all tools that look at the picture share: they refuse nothing, and may be called again."""

    family = ToolFamily.VISUAL

    def refuse(self, arguments: Any, state: CaseState) -> str | None:
        """Never, unless a tool says otherwise."""
        return None

    def key(self, arguments: Any) -> str | None:
        """Looking twice is no duplicate."""
        return None


class PerceiveScene(Looking):
    """A glance: who and what is there, without names, kinds or numbers."""

    name = "perceive_scene"
    description = "Glance at the picture."
    limit: int | None = None
    arguments: type[Arguments] = NoArguments

    def __init__(self, perception: Perception) -> None:
        self._perception = perception

    async def run(self, arguments: NoArguments, state: CaseState) -> ToolResult:
        """What the picture shows; by pixels, one line."""
        scene = await self._perception.perceive(state.sight)
        return ToolResult(scene.text, scene.payload)


class OcrWithPosition(Looking):
    """The printed text."""

    name = "ocr_with_position"
    description = "Read the printed text."
    limit: int | None = 3
    arguments: type[Arguments] = NoArguments

    def __init__(self, ocr: BaiduOcrClient) -> None:
        self._ocr = ocr

    async def run(self, arguments: NoArguments, state: CaseState) -> ToolResult:
        """One line of text per printed line."""
        with attributed():
            pieces = await self._ocr.read(state.image)
        lines = in_reading_order(pieces)
        payload = {"lines": lines, "regions": [_region(piece, state.picture.size) for piece in pieces]}
        if not lines:
            raise nothing(messages.NO_TEXT, **payload)
        state.clues.extend(lines)
        return ToolResult("\n".join(lines), payload)


class CountObjects(Looking):
    """How many objects of one kind there are."""

    name = "count_objects"
    description = "Count objects of one kind."
    limit: int | None = None
    arguments: type[Arguments] = CountArguments

    def __init__(self, perception: Perception) -> None:
        self._perception = perception

    def refuse(self, arguments: CountArguments, state: CaseState) -> str | None:
        """Refuses what cannot be counted."""
        target = arguments.target_object
        return None if self._perception.countable(target) else messages.cannot_count(target)

    async def run(self, arguments: CountArguments, state: CaseState) -> ToolResult:
        """`KIND: NUMBER`; nought is an answer too."""
        return await self._counted(arguments, None, state)

    async def _counted(self, arguments: CountArguments, box: Box | None, state: CaseState) -> ToolResult:
        target = self._perception.countable(arguments.target_object)
        assert target is not None, "refused before"
        count = await self._perception.count(state.sight, target, box)
        return ToolResult(count.text, count.payload)


class CropAndInspect(Looking):
    """A closer look at a part."""

    name = "crop_and_inspect"
    description = "Enlarge a part of the picture and read its text."
    limit: int | None = 4
    arguments: type[Arguments] = CropArguments

    def __init__(self, ocr: BaiduOcrClient) -> None:
        self._ocr = ocr

    def refuse(self, arguments: CropArguments, state: CaseState) -> str | None:
        """Refuses boxes that leave the picture or hold no pixel of it."""
        x1, y1, x2, y2 = arguments.bbox
        inside = all(0 <= side <= 1 for side in arguments.bbox) and x1 < x2 and y1 < y2
        return None if inside and _pixels(arguments.bbox, state.picture.size) else messages.BAD_BOX

    async def run(self, arguments: CropArguments, state: CaseState) -> ToolResult:
        """The text in the crop; the crop is shown."""
        crop = await asyncio.to_thread(_enlarged, state.picture, arguments.bbox)
        with attributed():
            lines = in_reading_order(await self._ocr.read(crop))
        payload = {"bbox": list(arguments.bbox), "lines": lines}
        return ToolResult("\n".join(lines) or "no text", payload, images=(crop,))


def _region(piece: PrintedLine, size: tuple[int, int]) -> dict[str, Any]:
    width, height = size
    box = (
        piece.left / width,
        piece.top / height,
        (piece.left + piece.width) / width,
        (piece.top + piece.height) / height,
    )
    return {"text": piece.text, "bbox": [round(side, 4) for side in box], "confidence": round(piece.confidence, 4)}


def _pixels(box: Box, size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """The box in whole pixels, or None when it holds none."""
    width, height = size
    left, top, right, bottom = (
        round(side * length) for side, length in zip(box, (width, height, width, height), strict=True)
    )
    return (left, top, right, bottom) if left < right and top < bottom else None


def _enlarged(picture: Image.Image, box: Box) -> bytes:
    """The part, at least `_CROP_SIDE` on its longest side and at most `LONGEST_SIDE`, as PNG."""
    pixels = _pixels(box, picture.size)
    assert pixels is not None, "refused before"
    crop = picture.crop(pixels)
    scale = max(1.0, _CROP_SIDE / max(crop.size), _SHORTEST_SIDE / min(crop.size))
    width, height = (min(LONGEST_SIDE, max(1, round(side * scale))) for side in crop.size)
    return encode_png(crop.resize((width, height), Image.Resampling.LANCZOS))
