"""Tools that are given back what they had found stand as if they had been executed."""

import asyncio
import json

import httpx
from tool_lab import case_of, read
from vendor_doubles import answer, serving

from components.config.schema import ToolParams
from components.config.settings import ServiceSettings
from components.records.episode import ToolCall
from components.records.image_bank import ImageBank
from components.tools.base import CaseState
from components.tools.clients.http import Requester
from components.tools.memory import Outcome
from components.tools.services import Services
from components.tools.source_policy import SourcePolicy
from components.tools.toolbox import Accepted, Refused, Toolbox
from components.world.app import WorldApp
from components.world.web import Web

GALA = "https://harvest-gala.example/2031"
CALLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("perceive_scene", {}),
    ("ocr_with_position", {}),
    ("count_objects", {"target_object": "lantern"}),
    ("text_search", {"query": "Harvest Gala 2031"}),
    ("text_search", {"query": "a thing that nobody has ever heard of"}),
    ("visit", {"url": GALA}),
    ("visit", {"url": "https://harvest-gala.example/nowhere"}),
    ("text_image_search", {"query": "Mara Venn"}),
    ("reverse_image_search", {}),
    ("compare_with_reference", {"reference_url": "https://people.example/mara-venn.png"}),
)


def knows(state: CaseState) -> list[object]:
    return [+state.used, state.asked, state.clues, state.offered, round(state.seconds, 9)]


def checked(toolbox: Toolbox, name: str, arguments: dict[str, str]) -> Accepted | Refused:
    return toolbox.check(ToolCall(name=name, arguments_json=json.dumps(arguments)), 24)


def test_all_tools_stand_where_they_stood(web: Web, bank: ImageBank, picture: bytes) -> None:
    async def go() -> None:
        async with Requester(httpx.ASGITransport(app=WorldApp(web, read)), 10) as requester:
            services = Services(requester, ToolParams(), bank, SourcePolicy())
            first, second = (services.toolbox(case_of(picture), picture) for _ in range(2))
            for number, (name, arguments) in enumerate(CALLS, 1):
                accepted, again = checked(first, name, arguments), checked(second, name, arguments)
                assert isinstance(accepted, Accepted)
                assert isinstance(again, Accepted), "the other one knows what may be called now"
                seen = await first.execute(accepted, f"o{number}")
                assert first.learned is not None
                kept = Outcome(observation=seen, learned=first.learned).model_dump_json()
                assert second.recall(again, Outcome.model_validate_json(kept)) == seen
                assert knows(second.state) == knows(first.state)
                assert (second.limits, second.exposed(9)) == (first.limits, first.exposed(9))
            refusals = [[checked(box, name, arguments) for name, arguments in CALLS] for box in (first, second)]
            assert refusals[0][3:] == refusals[1][3:]
            assert any(isinstance(refused, Refused) for refused in refusals[1])

    asyncio.run(go())


def test_a_call_that_did_not_count_does_not_count_when_it_is_given_back(bank: ImageBank, picture: bytes) -> None:
    async def go(url: str) -> None:
        async with Requester(None, 5) as requester:
            settings = ServiceSettings(SERPER_BASE_URL=url)
            services = Services(requester, ToolParams(), bank, SourcePolicy(), settings)
            first, second = (services.toolbox(case_of(picture), picture) for _ in range(2))
            accepted = checked(first, "text_search", {"query": "gala"})
            assert isinstance(accepted, Accepted)
            seen = await first.execute(accepted, "o1")
            assert first.learned is not None
            second.recall(accepted, Outcome(observation=seen, learned=first.learned))
            assert not seen.succeeded
            assert first.learned.asked == (), "what met an outage may be asked again"
            assert knows(second.state) == knows(first.state)

    with serving() as vendors:
        vendors.faults["serper"] = lambda: answer({}, 403)
        asyncio.run(go(vendors.url))
