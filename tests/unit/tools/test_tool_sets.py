"""The two sets of tools: what a policy is shown, and what an episode records of it."""

import asyncio
import hashlib
import json

import httpx
import pytest
from tool_lab import case_of, read

from components.agent.loop import Investigation
from components.config.schema import AgentParams, ToolParams
from components.records.image_bank import ImageBank
from components.tools import registry
from components.tools.base import ToolFamily
from components.tools.clients.http import Requester
from components.tools.services import Services
from components.tools.source_policy import SourcePolicy
from components.tools.toolbox import Toolbox
from components.world.app import WorldApp
from components.world.web import Web

CORE_DIGEST = "a8cc96ed9872f9315e2086b7c1bfb4d084bb780eebdff111b006de59aa88d2c0"
"""Of what the student was trained on; it changes with the student and never alone."""
LIMITS = {
    "perceive_scene": None, "ocr_with_position": 3, "current_time": 1, "reverse_image_search": 2,
    "text_image_search": 6, "text_search": 16, "visit": 16, "compare_with_reference": 6, "check_consistency": 3,
    "analyze_visual_anomalies": 3, "crop_and_inspect": 4, "focused_visual_inspection": 2, "count_objects": None,
}  # fmt: skip
REQUIRED = {
    "text_image_search": ["query"], "text_search": ["query"], "visit": ["url"],
    "compare_with_reference": ["reference_url"], "check_consistency": ["aspect"],
    "crop_and_inspect": ["bbox", "focus_question"],
    "focused_visual_inspection": ["question", "expected_property", "scope", "anchor_regions"],
    "count_objects": ["target_object"],
}  # fmt: skip


def toolbox(web: Web, bank: ImageBank, picture: bytes, without: set[ToolFamily], **params: str) -> Toolbox:
    requester = Requester(httpx.ASGITransport(app=WorldApp(web, read)), 10)
    services = Services(requester, ToolParams.model_validate(params), bank, SourcePolicy())
    return services.toolbox(case_of(picture), picture, without=without)


def test_the_core_set_is_what_the_student_was_trained_on(web: Web, bank: ImageBank, picture: bytes) -> None:
    box = toolbox(web, bank, picture, set())
    shown = json.dumps([schema.as_function() for schema in box.schemas], ensure_ascii=False)
    assert hashlib.sha256(shown.encode()).hexdigest() == CORE_DIGEST


def test_the_full_set_has_thirteen_tools_with_their_limits(web: Web, bank: ImageBank, picture: bytes) -> None:
    box = toolbox(web, bank, picture, set(), tool_set="full")
    assert {kind.name: kind.limit for kind in registry.FULL_TOOL_CLASSES} == LIMITS
    assert [schema.name for schema in box.schemas] == [*LIMITS, "finish_investigation"]
    required = {schema.name: schema.parameters["required"] for schema in box.schemas if "required" in schema.parameters}
    assert required == REQUIRED | {"finish_investigation": ["rationale"]}


def test_choices_and_lists_are_shown_as_such(web: Web, bank: ImageBank, picture: bytes) -> None:
    schemas = {schema.name: schema.parameters for schema in toolbox(web, bank, picture, set(), tool_set="full").schemas}
    aspect = schemas["check_consistency"]["properties"]["aspect"]  # type: ignore[index]
    assert aspect["enum"] == ["shadow", "perspective", "scale", "lighting", "edges", "physics", "all"]
    regions = schemas["focused_visual_inspection"]["properties"]["anchor_regions"]  # type: ignore[index]
    assert (regions["type"], regions["items"]) == ("array", {"type": "string"})
    for properties in (parameters["properties"] for parameters in schemas.values()):
        assert all({"type", "description"} <= spec.keys() for spec in properties.values())  # type: ignore[attr-defined]


@pytest.mark.parametrize("tool_set", ["core", "full"])
def test_an_episode_can_be_rendered_again_in_its_own_set(
    web: Web, bank: ImageBank, picture: bytes, tool_set: str
) -> None:
    box = toolbox(web, bank, picture, {ToolFamily.WEB_SEARCH}, tool_set=tool_set)
    episode = Investigation(case_of(picture), box, AgentParams(), policy="p", seed=0).episode()
    assert episode.tool_set == tool_set
    assert registry.schemas_for(episode.exposed_tools, episode.tool_set) == box.schemas


def test_the_clock_is_in_no_family(web: Web, bank: ImageBank, picture: bytes) -> None:
    box = toolbox(web, bank, picture, set(ToolFamily), tool_set="full")
    assert box.names == ("current_time", "finish_investigation")
    left = toolbox(web, bank, picture, {ToolFamily.VISUAL}, tool_set="full").names
    looking = {
        "perceive_scene", "ocr_with_position", "count_objects", "crop_and_inspect", "check_consistency",
        "analyze_visual_anomalies", "focused_visual_inspection",
    }  # fmt: skip
    assert set(LIMITS) - set(left) == looking


def test_the_worlds_time_stands_still_and_cannot_be_cited(web: Web, bank: ImageBank, picture: bytes) -> None:
    from components.agent.codec import render_call, render_report
    from components.records.case import Verdict
    from components.records.episode import Report, Turn

    async def go() -> Investigation:
        box = toolbox(web, bank, picture, set(), tool_set="full")
        running = Investigation(case_of(picture), box, AgentParams(), policy="p", seed=0)
        await running.advance(Turn(text=render_call("When?", "current_time", {})))
        await running.advance(Turn(text=render_call("Again?", "current_time", {})))
        await running.advance(Turn(text=render_call("Done.", "finish_investigation", {"rationale": "x"})))
        report = Report(verdict=Verdict.SUPPORTED, explanation="x", cited=("o1",))
        await running.advance(Turn(text=render_report("So.", report)))
        return running

    running = asyncio.run(go())
    first, again, _, report = running.steps
    assert first.observation is not None
    assert first.observation.text == "2031-03-13T00:00:00Z"
    assert again.feedback == "current_time is not available now."
    assert report.feedback == "o1 is the time and cannot be cited."
