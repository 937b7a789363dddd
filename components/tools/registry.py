"""Every tool there is, in the order a policy sees them."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from components.config.schema import ToolParams
from components.records.conversation import ToolSchema
from components.tools.base import Tool, ToolFamily, ToolSet, schema_of
from components.tools.clients.baidu_ocr import BaiduOcrClient
from components.tools.clients.direct import PageReader
from components.tools.clients.http import Requester
from components.tools.clients.pictures import PictureClient
from components.tools.clients.serper import SerperClient
from components.tools.clients.upload import Uploader
from components.tools.clock import CurrentTime
from components.tools.evidence import CompareWithReference, Visit
from components.tools.full_evidence import FullCompareWithReference, FullVisit
from components.tools.full_retrieval import FullReverseImageSearch, FullTextImageSearch, FullTextSearch
from components.tools.full_visual import (
    AnalyzeVisualAnomalies,
    CheckConsistency,
    FocusedVisualInspection,
    FullCountObjects,
    FullCropAndInspect,
)
from components.tools.perception import Perception
from components.tools.retrieval import ReverseImageSearch, TextImageSearch, TextSearch
from components.tools.source_policy import SourcePolicy
from components.tools.toolbox import FINISH_SCHEMA
from components.tools.visual import CountObjects, CropAndInspect, OcrWithPosition, PerceiveScene

TOOL_CLASSES = (
    PerceiveScene,
    OcrWithPosition,
    CountObjects,
    TextSearch,
    Visit,
    TextImageSearch,
    ReverseImageSearch,
    CompareWithReference,
    CropAndInspect,
)
"""The core set, without finish, which is no tool but the end."""

FULL_TOOL_CLASSES = (
    PerceiveScene,
    OcrWithPosition,
    CurrentTime,
    FullReverseImageSearch,
    FullTextImageSearch,
    FullTextSearch,
    FullVisit,
    FullCompareWithReference,
    CheckConsistency,
    AnalyzeVisualAnomalies,
    FullCropAndInspect,
    FocusedVisualInspection,
    FullCountObjects,
)
"""The full set, without finish."""


def tool_names(tool_set: ToolSet) -> tuple[str, ...]:
    """The names of a set's tools, without finish."""
    return tuple(kind.name for kind in (FULL_TOOL_CLASSES if tool_set == "full" else TOOL_CLASSES))


def schemas_for(names: Iterable[str], tool_set: ToolSet = "core") -> tuple[ToolSchema, ...]:
    """The schemas of tools by name, in the given order, so that a stored episode can be rendered again.

    Raises:
        ValueError: there is no tool of that name in the set.

    """
    kinds = FULL_TOOL_CLASSES if tool_set == "full" else TOOL_CLASSES
    known = {kind.name: schema_of(kind.name, kind.description, kind.arguments) for kind in kinds} | {
        FINISH_SCHEMA.name: FINISH_SCHEMA
    }
    wanted = tuple(names)
    for name in wanted:
        if name not in known:
            raise ValueError(f"there is no tool {name!r}; known are {', '.join(known)}")
    return tuple(known[name] for name in wanted)


class Parts(NamedTuple):
    """What tools are made of."""

    requester: Requester
    serper: SerperClient
    reader: PageReader
    ocr: BaiduOcrClient
    pictures: PictureClient
    upload: Uploader
    policy: SourcePolicy
    perception: Perception


def build_tools(params: ToolParams, parts: Parts, without: Collection[ToolFamily] = ()) -> tuple[Tool, ...]:
    """Every tool of the set that `params` name, except those of the families that an ablation takes away."""
    tools = _full(params, parts) if params.tool_set == "full" else _core(params, parts)
    return tuple(tool for tool in tools if tool.family not in without)


def _core(params: ToolParams, parts: Parts) -> tuple[Tool, ...]:
    rows = params.search_results
    return (
        PerceiveScene(parts.perception),
        OcrWithPosition(parts.ocr),
        CountObjects(parts.perception),
        TextSearch(parts.serper, parts.policy, rows),
        Visit(parts.reader, parts.policy, params.passage_chars),
        TextImageSearch(parts.serper, parts.policy, rows),
        ReverseImageSearch(parts.serper, parts.upload, parts.policy, rows),
        CompareWithReference(parts.pictures, parts.policy, parts.perception),
        CropAndInspect(parts.ocr),
    )


def _full(params: ToolParams, parts: Parts) -> tuple[Tool, ...]:
    rows, perception = params.search_results, parts.perception
    return (
        PerceiveScene(perception),
        OcrWithPosition(parts.ocr),
        CurrentTime(parts.requester),
        FullReverseImageSearch(parts.serper, parts.upload, parts.policy, rows, perception),
        FullTextImageSearch(parts.serper, parts.policy, rows),
        FullTextSearch(parts.serper, parts.policy, rows),
        FullVisit(parts.reader, parts.policy, params.passage_chars, perception),
        FullCompareWithReference(parts.pictures, parts.policy, perception),
        CheckConsistency(perception),
        AnalyzeVisualAnomalies(perception),
        FullCropAndInspect(parts.ocr, perception),
        FocusedVisualInspection(perception),
        FullCountObjects(perception),
    )
