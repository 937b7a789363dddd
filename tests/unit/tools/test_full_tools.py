"""The full set against the closed world, call by call, with classical vision for eyes."""

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from PIL import Image
from tool_lab import call, case_of, read

from components.config.schema import ToolParams
from components.records.episode import FailureClass, Observation
from components.records.image_bank import ImageBank
from components.tools import messages
from components.tools.base import CaseState
from components.tools.clients.http import Requester
from components.tools.perception_pixels import PixelPerception
from components.tools.services import Services
from components.tools.sight import Sight
from components.tools.source_policy import SourcePolicy
from components.tools.vision_measures import spread
from components.world.app import WorldApp
from components.world.web import Web

GALA = "https://harvest-gala.example/2031"
PHOTO = f"{GALA}/photo.png"
INSPECTION = {"question": "Who?", "expected_property": "one host", "scope": "relation", "anchor_regions": "[]"}
Use = Callable[[Sequence[tuple[str, dict[str, str]]]], list[Any]]


@pytest.fixture
def use(web: Web, bank: ImageBank, picture: bytes) -> Use:
    async def go(calls: Sequence[tuple[str, dict[str, str]]]) -> list[Observation | str]:
        async with Requester(httpx.ASGITransport(app=WorldApp(web, read)), 10) as requester:
            services = Services(requester, ToolParams(tool_set="full"), bank, SourcePolicy())
            toolbox = services.toolbox(case_of(picture), picture)
            return [await call(toolbox, *step, number) for number, step in enumerate(calls, 1)]

    return lambda calls: asyncio.run(go(calls))


def one(use: Use, name: str, **arguments: str) -> Any:
    return use([(name, arguments)])[0]


def payload(observation: Observation) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(observation.payload_json)
    return values


def test_a_search_is_the_same_search_whatever_its_country(use: Use) -> None:
    query = {"query": "Harvest Gala", "gl": "GB", "hl": "en", "goal": "find the host"}
    first, again = use([("text_search", query), ("text_search", {"query": "harvest  GALA", "gl": "us"})])
    assert GALA in first.text
    assert again == messages.DUPLICATE


def test_an_image_search_is_made_once(use: Use) -> None:
    first, again = use([("text_image_search", {"query": "Mara Venn"}), ("text_image_search", {"query": "mara venn"})])
    assert first.succeeded
    assert again == messages.DUPLICATE


def test_a_country_that_is_none_is_refused(use: Use) -> None:
    assert one(use, "text_search", query="gala", gl="Britain") == "gl of text_search cannot be read."


def test_each_branch_of_a_reverse_search_is_taken_once(use: Use) -> None:
    lens, described, again, other = use(
        [
            ("reverse_image_search", {}),
            ("reverse_image_search", {"branch": "semantic"}),
            ("reverse_image_search", {"branch": "lens"}),
            ("reverse_image_search", {"branch": "third"}),
        ]
    )
    assert lens.text.splitlines()[1] == GALA
    assert payload(described)["query"] == "balloon lantern"
    # Both calls are used up, so that the tool is gone from the schema before its arguments are looked at.
    assert again == other == "reverse_image_search is not available now."


def test_a_branch_is_not_taken_twice(use: Use) -> None:
    assert use([("reverse_image_search", {"branch": "lens"})] * 2)[1] == messages.DUPLICATE


def test_a_page_answers_the_question_word_by_word(use: Use) -> None:
    seen = one(use, "visit", url=GALA, question="When do tickets for the next edition go on sale?", context="")
    passage = "Tickets for the next edition go on sale two months ahead at the box office."
    assert seen.text == f"{passage}\npicture: {PHOTO}"
    assert payload(seen)["extraction"]["relation_stance"] == "unclear"
    assert one(use, "visit", url=GALA).text.startswith("Harvest Gala was held on 12 March 2031")


def test_a_comparison_takes_a_focus_and_no_blocked_page(use: Use) -> None:
    blocked = {"reference_url": PHOTO, "source_page_url": "https://factcheck-desk.example/gala"}
    named = {"reference_url": PHOTO, "focus": "the host", "source_page_url": GALA, "expected_property": "the same face"}
    _, refused, none, seen = use(
        [
            ("visit", {"url": GALA}),
            ("compare_with_reference", blocked),
            ("compare_with_reference", {"reference_url": PHOTO, "source_page_url": "gala"}),
            ("compare_with_reference", named),
        ]
    )
    assert (refused, none) == (messages.BLOCKED_URL, messages.NOT_A_URL)
    assert seen.text == "same person; same scene"


@pytest.mark.parametrize("bbox", ["0,0,1,1", "[0, 0, 1000, 1000]"])
def test_a_crop_is_read_and_looked_at_in_shares_or_thousandths(use: Use, bbox: str) -> None:
    seen = one(use, "crop_and_inspect", bbox=bbox, focus_question="Who stands there?")
    assert len(seen.images) == 1
    assert "photo: one person on the right" in seen.text
    assert seen.text.splitlines()[1:] == [f"limit: {messages.NOT_READ}", "Harvest Gala", "Rowan Hall"]


@pytest.mark.parametrize("bbox", ["0,0,1", "0.5,0,0.5,1", "-1,0,1,1", "nan,0,1,1", "0.1,0,900,900", "0,0,9000,1", "x"])
def test_what_is_no_box_is_refused(use: Use, bbox: str) -> None:
    assert one(use, "crop_and_inspect", bbox=bbox, focus_question="Who?") == messages.BAD_BOX
    assert one(use, "count_objects", bbox=bbox, target_object="lantern") == messages.BAD_BOX
    refused = one(use, "focused_visual_inspection", **{**INSPECTION, "anchor_regions": bbox})
    assert refused == messages.BAD_BOXES


def test_counting_in_a_part_counts_no_more_than_in_the_whole(use: Use) -> None:
    whole, half, none = (
        payload(one(use, "count_objects", target_object="lantern", bbox=box))["count"]
        for box in ("", "0,0,0.5,1", "0,0,0.02,0.02")
    )
    assert whole == 9
    assert 0 < half < whole
    assert none == 0
    seen = one(use, "count_objects", target_object="lantern", bbox="0,0,0.5,1")
    assert seen.text == f"lantern in [0,0,0.5,1]: {half}"


def test_pixels_describe_every_view_and_answer_nothing(use: Use) -> None:
    regions = "0,0,0.5,0.5; 0.5,0.5,1,1"
    seen = one(use, "focused_visual_inspection", **{**INSPECTION, "anchor_regions": regions})
    found = payload(seen)
    assert seen.text.startswith("ambiguous: ")
    assert [item["view_index"] for item in found["observations"]] == [0, 1, 2, 3]
    assert {item["property_status"] for item in found["observations"]} == {"uncertain"}
    assert found["limitations"] == [messages.NOT_READ]


def test_pixels_never_judge(use: Use) -> None:
    for aspect in ("shadow", "perspective", "scale", "lighting", "edges", "physics", "all"):
        seen = one(use, "check_consistency", aspect=aspect)
        assert seen.text.startswith(f"{aspect}: uncertain\n")
        assert payload(seen)["consistent"] is None
    seen = one(use, "analyze_visual_anomalies", focus_areas="face, sky", check_type="ai_generation")
    assert payload(seen)["overall_authenticity"] == "uncertain"
    assert messages.NOT_JUDGED in seen.text


def test_more_than_four_regions_are_refused(use: Use) -> None:
    regions = json.dumps([[0, 0, 0.5, 0.5]] * 5)
    refused = one(use, "focused_visual_inspection", **{**INSPECTION, "anchor_regions": regions})
    assert refused == messages.BAD_BOXES


@pytest.mark.parametrize(
    ("name", "arguments", "limit"),
    [
        ("current_time", {}, 1),
        ("check_consistency", {"aspect": "edges"}, 3),
        ("analyze_visual_anomalies", {}, 3),
        ("focused_visual_inspection", INSPECTION, 2),
        ("crop_and_inspect", {"bbox": "0,0,1,1", "focus_question": "Who?"}, 4),
    ],
)
def test_a_tool_at_its_limit_is_gone(use: Use, name: str, arguments: dict[str, str], limit: int) -> None:
    *done, refused = use([(name, arguments)] * (limit + 1))
    assert all(seen.succeeded for seen in done)
    assert refused == messages.unknown_tool(name)


def test_a_part_with_noise_of_its_own_stands_out() -> None:
    noise = Image.effect_noise((50, 50), 60).convert("RGB")
    image = Image.linear_gradient("L").resize((300, 300)).convert("RGB")
    assert not spread(image, "noise").stands_out
    image.paste(noise, (50, 100))
    found = spread(image, "noise")
    assert found.stands_out
    assert found.box == (round(1 / 6, 4), round(2 / 6, 4), round(2 / 6, 4), round(3 / 6, 4))


class Hops(ThreadPoolExecutor):
    """Counts what is handed to a thread."""

    count = 0

    def submit(self, *args: Any, **options: Any) -> Any:
        self.count += 1
        return super().submit(*args, **options)


def test_a_known_picture_is_looked_at_without_a_thread(picture: bytes) -> None:
    sight = CaseState(case_of(picture), picture).sight
    fresh, known = Sight(sight.image), Sight(sight.image)
    assert known.glance
    eyes = PixelPerception()

    async def go() -> tuple[int, int]:
        hops = Hops(1)
        asyncio.get_running_loop().set_default_executor(hops)
        await eyes.perceive(known)
        await eyes.count(known, "lantern", None)
        before = hops.count
        await eyes.perceive(fresh)
        return before, hops.count

    assert asyncio.run(go()) == (0, 1)


def test_a_clock_that_is_out_of_service_is_no_time(web: Web, bank: ImageBank, picture: bytes) -> None:
    async def go() -> Observation | str:
        broken = httpx.MockTransport(lambda request: httpx.Response(200, json={"utc": "soon"}))
        async with Requester(broken, 5) as requester:
            services = Services(requester, ToolParams(tool_set="full"), bank, SourcePolicy())
            return await call(services.toolbox(case_of(picture), picture), "current_time", {}, 1)

    seen = asyncio.run(go())
    assert isinstance(seen, Observation)
    assert (seen.failure, seen.text) == (FailureClass.INFRASTRUCTURE, "clock is out of service")
