"""Services opened on a checkout, in this process and on a port."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from app_server import on_a_port

from components.agent.loop import Investigation
from components.config.paths import Paths
from components.config.schema import AgentParams, Params, ToolParams
from components.errors import EviflowError
from components.records.case import Case
from components.records.episode import Observation, ToolCall, Turn
from components.records.image_bank import ImageBank, sha256_hex
from components.tools import registry
from components.tools.base import ToolFamily
from components.tools.clients.http import Requester
from components.tools.services import Services, open_services
from components.tools.source_policy import SourcePolicy
from components.tools.toolbox import Accepted
from components.tools.transports import PortTransport
from components.world.app import WorldApp
from components.world.web import Web


def case_of(image: bytes) -> Case:
    return Case(case_id="c1", image_path="x.png", image_sha256=sha256_hex(image))


async def execute(services: Services, picture: bytes, name: str, arguments: str = "{}") -> Observation:
    toolbox = services.toolbox(case_of(picture), picture)
    checked = toolbox.check(ToolCall(name=name, arguments_json=arguments), 24)
    assert isinstance(checked, Accepted), checked
    return await toolbox.execute(checked, "o1")


def test_the_closed_world_opens_from_its_files_with_nothing_private(checkout: Paths, picture: bytes) -> None:
    assert not checkout.facts.exists()

    async def use() -> tuple[Observation, Observation, Services]:
        async with open_services(Params(), checkout, ImageBank(checkout.episodes)) as services:
            found = await execute(services, picture, "reverse_image_search")
            read = await execute(services, picture, "ocr_with_position")
        return found, read, services

    found, read, services = asyncio.run(use())
    assert "harvest-gala.example/2031" in found.text
    assert "Harvest Gala" in read.text
    assert "Rowan Hall" in read.text
    assert services.requester.closed


def test_a_world_that_is_not_built_is_named(tmp_path: Path) -> None:
    async def use() -> None:
        async with open_services(Params(), Paths(tmp_path), ImageBank(tmp_path)):
            pass

    with pytest.raises(EviflowError, match="eviflow stage world"):
        asyncio.run(use())


class Flat(httpx.AsyncBaseTransport):
    """A network on which one host is down, or answers something else."""

    def __init__(self, inner: httpx.AsyncBaseTransport, host: str, status: int = 503, body: bytes = b"{}") -> None:
        self._inner, self._host, self._status, self._body = inner, host, status, body

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.host == self._host:
            return httpx.Response(self._status, content=self._body)
        return await self._inner.handle_async_request(request)


def observe(
    web: Web, picture: bytes, bank: ImageBank, host: str, name: str, arguments: str, **answer: Any
) -> Observation:
    async def go() -> Observation:
        transport = Flat(httpx.ASGITransport(app=WorldApp(web, lambda _: [])), host, **answer)
        async with Requester(transport, 5) as requester:
            return await execute(Services(requester, ToolParams(), bank, SourcePolicy()), picture, name, arguments)

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("host", "name", "arguments", "text"),
    [
        ("google.serper.dev", "text_search", '{"query": "gala"}', "search is out of service"),
        ("google.serper.dev", "text_image_search", '{"query": "gala"}', "image search is out of service"),
        ("uploads.example", "reverse_image_search", "{}", "picture upload is out of service"),
        ("r.jina.ai", "visit", '{"url": "https://news.example/gala"}', "page reader is out of service"),
        ("aip.baidubce.com", "ocr_with_position", "{}", "text recognition is out of service"),
        ("aip.baidubce.com", "crop_and_inspect", '{"bbox": "0,0,1,1"}', "text recognition is out of service"),
    ],
)
@pytest.mark.parametrize("status", [403, 503])
@pytest.mark.incident("JS-3")
def test_an_outage_never_reads_as_nothing_found(
    web: Web, picture: bytes, bank: ImageBank, host: str, name: str, arguments: str, text: str, status: int
) -> None:
    seen = observe(web, picture, bank, host, name, arguments, status=status)
    assert (seen.status, seen.failure, seen.text) == ("error", "infrastructure", text)
    assert f"status {status}" in seen.payload_json


class Counting(httpx.AsyncBaseTransport):
    """Counts what reaches each host."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.paths: Counter[str] = Counter()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.paths[request.url.path] += 1
        return await self._inner.handle_async_request(request)


@pytest.mark.incident("CI-2")
@pytest.mark.incident("CI-3")
def test_every_investigation_asks_for_itself_and_no_answer_comes_from_a_cache(
    web: Web, picture: bytes, bank: ImageBank
) -> None:
    """There is no cache of tool results, hence no switch that could leave one on."""
    counting = Counting(httpx.ASGITransport(app=WorldApp(web, lambda _: [])))

    async def twice() -> list[Observation]:
        async with Requester(counting, 5) as requester:
            services = Services(requester, ToolParams(), bank, SourcePolicy())
            calls = [("ocr_with_position", "{}"), ("text_search", '{"query": "Harvest Gala"}')]
            return [await execute(services, picture, *call) for call in calls for _ in range(2)]

    seen = asyncio.run(twice())
    assert counting.paths["/search"] == 2
    assert sum(count for path, count in counting.paths.items() if "/ocr/" in path) == 2
    assert not any(observation.cache_hit for observation in seen)


def test_a_page_that_leads_to_a_blocked_site_is_not_shown(web: Web, picture: bytes, bank: ImageBank) -> None:
    body = (
        b'{"code": 200, "data": {"title": "x", "url": "https://www.snopes.com/x", "content": "The verdict is false."}}'
    )
    arguments = '{"url": "https://news.example/gala"}'
    seen = observe(web, picture, bank, "r.jina.ai", "visit", arguments, status=200, body=body)
    assert (seen.failure, seen.text) == ("policy", "the page leads to a blocked site")
    assert "verdict is false" not in seen.model_dump_json()


@pytest.mark.parametrize("family", list(ToolFamily))
def test_an_ablation_takes_a_family_away(web: Web, picture: bytes, bank: ImageBank, family: ToolFamily) -> None:
    services = Services(
        Requester(httpx.ASGITransport(app=WorldApp(web, lambda _: [])), 5), ToolParams(), bank, SourcePolicy()
    )
    toolbox = services.toolbox(case_of(picture), picture, without={family})
    gone = {kind.name for kind in registry.TOOL_CLASSES if kind.family is family}
    every = {kind.name for kind in registry.TOOL_CLASSES} | {"finish_investigation"}
    assert {schema.name for schema in toolbox.exposed(24)} == every - gone
    for name in gone:
        checked = toolbox.check(ToolCall(name=name, arguments_json="{}"), 24)
        assert not isinstance(checked, Accepted)
    running = Investigation(case_of(picture), toolbox, AgentParams(), policy="p", seed=0)
    assert set(running.episode().exposed_tools) == every - gone
    assert registry.schemas_for(running.episode().exposed_tools) == running.conversation().offered


def test_some_tools_alone_can_be_offered(web: Web, picture: bytes, bank: ImageBank) -> None:
    requester = Requester(httpx.ASGITransport(app=WorldApp(web, lambda _: [])), 5)
    services = Services(requester, ToolParams(), bank, SourcePolicy())
    toolbox = services.toolbox(case_of(picture), picture, only={"visit", "count_objects"})
    assert toolbox.names == ("count_objects", "visit", "finish_investigation")
    without = {ToolFamily.EVIDENCE_INSPECTION}
    toolbox = services.toolbox(case_of(picture), picture, only={"visit", "count_objects"}, without=without)
    assert toolbox.names == ("count_objects", "finish_investigation")


def test_an_unknown_tool_has_no_schema() -> None:
    with pytest.raises(ValueError, match="no tool 'dance'"):
        registry.schemas_for(["dance"])


@pytest.fixture
def served(web: Web) -> Iterator[str]:
    """The world on a port of this machine."""
    with on_a_port(WorldApp(web, lambda _: [])) as address:
        yield address


def test_the_same_clients_reach_the_world_on_a_port(served: str, web: Web, picture: bytes, bank: ImageBank) -> None:
    steps = [
        ("reverse_image_search", "{}"),
        ("text_search", '{"query": "Harvest Gala"}'),
        ("visit", '{"url": "https://harvest-gala.example/2031"}'),
        ("compare_with_reference", '{"reference_url": "https://harvest-gala.example/2031/photo.png"}'),
    ]

    async def use(transport: httpx.AsyncBaseTransport) -> list[tuple[str, str, str]]:
        async with Requester(transport, 10) as requester:
            toolbox = Services(requester, ToolParams(), bank, SourcePolicy()).toolbox(case_of(picture), picture)
            seen = []
            for number, (name, arguments) in enumerate(steps):
                checked = toolbox.check(ToolCall(name=name, arguments_json=arguments), 24)
                assert isinstance(checked, Accepted), checked
                observation = await toolbox.execute(checked, f"o{number}")
                seen.append((observation.text, observation.payload_json, observation.status))
            return seen

    on_a_port = asyncio.run(use(PortTransport(served)))
    in_process = asyncio.run(use(httpx.ASGITransport(app=WorldApp(web, lambda _: []))))
    assert on_a_port == in_process
    assert [status for *_, status in on_a_port] == ["success"] * 4


@pytest.mark.incident("CO-1")
def test_connections_stay_flat_over_many_investigations(served: str, web: Web, picture: bytes, bank: ImageBank) -> None:
    import psutil

    process = psutil.Process()

    def investigate(number: int) -> None:
        async def use() -> None:
            async with Requester(PortTransport(served), 10) as requester:
                services = Services(requester, ToolParams(), bank, SourcePolicy())
                await asyncio.gather(*(execute(services, picture, "reverse_image_search") for _ in range(4)))

        asyncio.run(use())

    investigate(0)
    before = (len(process.net_connections()), threading.active_count())
    for number in range(6):
        investigate(number)
    time.sleep(0.2)
    after = (len(process.net_connections()), threading.active_count())
    assert after[0] <= before[0] + 2
    assert after[1] <= before[1] + 2


def test_a_turn_that_calls_a_tool_reaches_the_world(web: Web, picture: bytes, bank: ImageBank) -> None:
    """Loop, toolbox, clients and world together, without any file of the private side."""
    from components.agent.codec import render_call

    async def go() -> Investigation:
        async with Requester(httpx.ASGITransport(app=WorldApp(web, lambda _: [])), 10) as requester:
            toolbox = Services(requester, ToolParams(), bank, SourcePolicy()).toolbox(case_of(picture), picture)
            running = Investigation(case_of(picture), toolbox, AgentParams(), policy="p", seed=0)
            for query in ("Harvest Gala", "harvest  gala", "Mara Venn"):
                await running.advance(Turn(text=render_call("Search.", "text_search", {"query": query})))
            return running

    running = asyncio.run(go())
    assert [step.kind.value for step in running.steps] == ["action", "correction", "action"]
