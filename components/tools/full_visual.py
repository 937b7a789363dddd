"""Tools that look at the picture, with all of EviScene's arguments: two of the core set's widened, and three more."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from components.tools import messages
from components.tools.base import Arguments, CaseState, ToolResult
from components.tools.boxes import parse_box, parse_boxes, parse_list, shares
from components.tools.clients.baidu_ocr import BaiduOcrClient
from components.tools.findings import box_text
from components.tools.perception import Aspect, Box, CheckType, Perception, Scope
from components.tools.sight import sight_of
from components.tools.views import MOST_REGIONS
from components.tools.visual import CountArguments, CountObjects, CropAndInspect, CropArguments, Looking

_NO_EVIDENCE = "Style, quality and signs of generation are no evidence for a verdict."
_AS_TEXT = {"type": "string"}
_AS_TEXTS: dict[str, Any] = {"type": "array", "items": _AS_TEXT}


def _part(value: Any) -> Any:
    """As `parse_box`; an empty text is no part."""
    return None if value == "" else parse_box(value)


class FullCountArguments(CountArguments):
    """What to count, and where."""

    bbox: Annotated[Box | None, BeforeValidator(_part)] = Field(
        None, description="Part to count in, x1,y1,x2,y2 between 0 and 1; without it, everywhere.",
        json_schema_extra=dict(_AS_TEXT),
    )  # fmt: skip


class FullCropArguments(CropArguments):
    """A part of the picture, and what is asked of it."""

    focus_question: str = Field(min_length=1, max_length=400, description="What to find out about the part.")
    expected_property: str = Field("", max_length=400, description="What the part would show if the depiction is true.")


class ConsistencyArguments(Arguments):
    """What to check."""

    aspect: Aspect = Field(description="Which respect to check.")


class AnomalyArguments(Arguments):
    """What to look for, and where."""

    focus_areas: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], BeforeValidator(parse_list)] = Field(
        (), max_length=8, description="Parts to look at first, in words.", json_schema_extra=dict(_AS_TEXTS)
    )
    context: str = Field("", max_length=400, description="What is known of the picture.")
    check_type: CheckType = Field("all", description="Which kind to look for.")


class InspectionArguments(Arguments):
    """A question about parts of the picture."""

    question: str = Field(min_length=1, max_length=400, description="What to find out.")
    expected_property: str = Field(
        min_length=1, max_length=400, description="What would be seen if the depiction is true."
    )
    scope: Scope = Field(description="What the question is about.")
    anchor_regions: Annotated[tuple[Box, ...], BeforeValidator(parse_boxes)] = Field(
        max_length=MOST_REGIONS,
        description="Up to four parts to enlarge, each x1,y1,x2,y2 between 0 and 1.",
        json_schema_extra=dict(_AS_TEXTS),
    )


class FullCountObjects(CountObjects):
    """How many objects of one kind there are, in the picture or a part of it."""

    description = "Count objects of one kind, in the picture or in a part of it."
    arguments: type[Arguments] = FullCountArguments

    def refuse(self, arguments: CountArguments, state: CaseState) -> str | None:
        """Refuses what cannot be counted, and boxes that are none."""
        box = getattr(arguments, "bbox", None)
        if box is not None and shares(box, state.picture.size) is None:
            return messages.BAD_BOX
        return super().refuse(arguments, state)

    async def run(self, arguments: CountArguments, state: CaseState) -> ToolResult:
        """`KIND: NUMBER`, and for a part `KIND in [BOX]: NUMBER`, so that it never passes for the number of all."""
        given = getattr(arguments, "bbox", None)
        box = None if given is None else shares(given, state.picture.size)
        result = await self._counted(arguments, box, state)
        return result if box is None else replace(result, text=result.text.replace(":", f" in{box_text(box)}:", 1))


class FullCropAndInspect(CropAndInspect):
    """A closer look at a part, with a question."""

    description = "Enlarge a part of the picture, read its text and look at it with a question."
    arguments: type[Arguments] = FullCropArguments

    def __init__(self, ocr: BaiduOcrClient, perception: Perception) -> None:
        super().__init__(ocr)
        self._perception = perception

    def refuse(self, arguments: CropArguments, state: CaseState) -> str | None:
        """Refuses what is no box; thousandths and pixels are boxes too."""
        box = shares(arguments.bbox, state.picture.size)
        return messages.BAD_BOX if box is None else super().refuse(_at(arguments, box), state)

    async def run(self, arguments: CropArguments, state: CaseState) -> ToolResult:
        """What the crop shows, then the text in it; the crop is shown."""
        assert isinstance(arguments, FullCropArguments)
        box = shares(arguments.bbox, state.picture.size)
        assert box is not None, "refused before"
        read = await super().run(_at(arguments, box), state)
        part = sight_of(read.images[0])
        seen = await self._perception.closeup(part, arguments.focus_question, arguments.expected_property)
        payload = {**read.payload, "closeup": seen.payload}
        return ToolResult(f"{seen.text}\n{read.text}", payload, images=read.images)


class CheckConsistency(Looking):
    """Whether the picture fits together."""

    name = "check_consistency"
    description = f"Check whether the picture fits together in one respect. {_NO_EVIDENCE}"
    limit: int | None = 3
    arguments: type[Arguments] = ConsistencyArguments

    def __init__(self, perception: Perception) -> None:
        self._perception = perception

    async def run(self, arguments: ConsistencyArguments, state: CaseState) -> ToolResult:
        """`lighting: consistent`, with what does not fit."""
        found = await self._perception.consistency(state.sight, arguments.aspect)
        return ToolResult(found.text, found.payload)


class AnalyzeVisualAnomalies(Looking):
    """What is odd in the picture."""

    name = "analyze_visual_anomalies"
    description = f"Look for what is odd in the picture. {_NO_EVIDENCE}"
    limit: int | None = 3
    arguments: type[Arguments] = AnomalyArguments

    def __init__(self, perception: Perception) -> None:
        self._perception = perception

    async def run(self, arguments: AnomalyArguments, state: CaseState) -> ToolResult:
        """Anomaly by anomaly."""
        found = await self._perception.anomalies(
            state.sight, arguments.check_type, arguments.focus_areas, arguments.context
        )
        return ToolResult(found.text, found.payload)


class FocusedVisualInspection(Looking):
    """A question about the picture and some parts of it."""

    name = "focused_visual_inspection"
    description = "Answer one question from the picture and up to four enlarged parts of it."
    limit: int | None = 2
    arguments: type[Arguments] = InspectionArguments

    def __init__(self, perception: Perception) -> None:
        self._perception = perception

    def refuse(self, arguments: InspectionArguments, state: CaseState) -> str | None:
        """Refuses boxes that are none."""
        return messages.BAD_BOXES if None in self._boxes(arguments, state) else None

    async def run(self, arguments: InspectionArguments, state: CaseState) -> ToolResult:
        """`observed`, `not_observed` or `ambiguous`, and why."""
        boxes = [box for box in self._boxes(arguments, state) if box is not None]
        found = await self._perception.inspect(
            state.sight, arguments.question, arguments.expected_property, arguments.scope, boxes
        )
        return ToolResult(found.text, found.payload)

    def _boxes(self, arguments: InspectionArguments, state: CaseState) -> list[Box | None]:
        return [shares(box, state.picture.size) for box in arguments.anchor_regions]


def _at(arguments: CropArguments, box: Box) -> CropArguments:
    return arguments.model_copy(update={"bbox": box})
