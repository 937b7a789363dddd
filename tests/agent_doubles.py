"""Tools that answer by themselves, and turns that call them."""

import io
from pathlib import Path

from PIL import Image

from components.agent.codec import render_call, render_report
from components.agent.loop import Investigation
from components.config.schema import AgentParams
from components.records.case import Case, Verdict
from components.records.episode import FailureClass, Report, Turn
from components.records.image_bank import ImageBank, sha256_hex
from components.tools.base import CaseState, NoArguments, ToolFailure, ToolFamily, ToolResult, normalised
from components.tools.retrieval import QueryArguments
from components.tools.toolbox import Toolbox


def picture(colour: tuple[int, int, int] = (200, 30, 30)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(buffer, format="PNG")
    return buffer.getvalue()


class Look:
    """Succeeds, and shows a picture."""

    name = "perceive_scene"
    description = "Look."
    family = ToolFamily.VISUAL
    limit: int | None = None
    arguments = NoArguments

    def refuse(self, arguments: NoArguments, state: CaseState) -> str | None:
        return None

    def key(self, arguments: NoArguments) -> str | None:
        return None

    async def run(self, arguments: NoArguments, state: CaseState) -> ToolResult:
        return ToolResult("photo: one person", {"person": True}, images=(picture((1, 2, 3)),))


class Search:
    """Finds what is not called "nothing"; is out of service for "outage"."""

    name = "text_search"
    description = "Search."
    family = ToolFamily.WEB_SEARCH
    limit: int | None = 3
    arguments = QueryArguments

    def refuse(self, arguments: QueryArguments, state: CaseState) -> str | None:
        return None

    def key(self, arguments: QueryArguments) -> str | None:
        return normalised(arguments.query)

    async def run(self, arguments: QueryArguments, state: CaseState) -> ToolResult:
        if arguments.query == "outage":
            raise ToolFailure(FailureClass.INFRASTRUCTURE, "search is out of service", {"reason": "status 503"})
        if arguments.query == "nothing":
            raise ToolFailure(FailureClass.EMPTY_RESULT, "nothing found")
        return ToolResult(f"{arguments.query} - a.example\nhttps://a.example/1")


def investigation(
    root: Path,
    *,
    budget: int = 24,
    corrections: int = 4,
    control: bool = False,
    direct: bool = False,
    tools: tuple[object, ...] | None = None,
) -> Investigation:
    image = picture()
    case = Case(case_id="c1", image_path="x.png", image_sha256=sha256_hex(image))
    toolbox = Toolbox(case, image, (Look(), Search()) if tools is None else tools, ImageBank(root))  # type: ignore[arg-type]
    config = AgentParams(action_budget=budget, corrections_per_stage=corrections, control_packet=control)
    return Investigation(case, toolbox, config, policy="scripted", seed=5, direct=direct)


def look(thought: str = "Look.") -> Turn:
    return Turn(text=render_call(thought, "perceive_scene", {}))


def search(query: str) -> Turn:
    return Turn(text=render_call("Search.", "text_search", {"query": query}))


def finish() -> Turn:
    return Turn(
        text=render_call("Enough.", "finish_investigation", {"rationale": "All is known."}), token_ids=(7, 8, 9)
    )


def report(*cited: str) -> Turn:
    conclusion = Report(verdict=Verdict.SUPPORTED, explanation="All agree.", cited=cited)
    return Turn(text=render_report("They agree.", conclusion))
