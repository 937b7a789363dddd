"""Every tool there is, in the order a policy sees them."""

from collections.abc import Collection, Iterable

from components.config.schema import ToolParams
from components.records.conversation import ToolSchema
from components.tools.base import Tool, ToolFamily, schema_of
from components.tools.clients.baidu_ocr import BaiduOcrClient
from components.tools.clients.direct import PageReader
from components.tools.clients.pictures import PictureClient
from components.tools.clients.serper import SerperClient
from components.tools.clients.upload import Uploader
from components.tools.evidence import CompareWithReference, Visit
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
"""Without finish, which is no tool but the end."""


def schemas_for(names: Iterable[str]) -> tuple[ToolSchema, ...]:
    """The schemas of tools by name, in the given order, so that a stored episode can be rendered again.

    Raises:
        ValueError: there is no tool of that name.

    """
    known = {kind.name: schema_of(kind.name, kind.description, kind.arguments) for kind in TOOL_CLASSES} | {
        FINISH_SCHEMA.name: FINISH_SCHEMA
    }
    wanted = tuple(names)
    for name in wanted:
        if name not in known:
            raise ValueError(f"there is no tool {name!r}; known are {', '.join(known)}")
    return tuple(known[name] for name in wanted)


def build_tools(
    params: ToolParams,
    *,
    serper: SerperClient,
    reader: PageReader,
    ocr: BaiduOcrClient,
    pictures: PictureClient,
    upload: Uploader,
    policy: SourcePolicy,
    perception: Perception,
    without: Collection[ToolFamily] = (),
) -> tuple[Tool, ...]:
    """Every tool, except those of the families that an ablation takes away."""
    rows = params.search_results
    tools: tuple[Tool, ...] = (
        PerceiveScene(perception),
        OcrWithPosition(ocr),
        CountObjects(perception),
        TextSearch(serper, policy, rows),
        Visit(reader, policy, params.passage_chars),
        TextImageSearch(serper, policy, rows),
        ReverseImageSearch(serper, upload, policy, rows),
        CompareWithReference(pictures, policy, perception),
        CropAndInspect(ocr),
    )
    return tuple(tool for tool in tools if tool.family not in without)
