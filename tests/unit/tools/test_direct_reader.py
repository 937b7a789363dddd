"""Reading pages directly gives what the vendor's reader gives, as long as there is a page to read."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

import httpx
import psutil
import pytest
from hostile_web import KINDS, hostile_web
from pytest_httpserver import HTTPServer

from components.config.paths import Paths
from components.config.schema import Params, ToolParams, WorldParams
from components.records.case import Case
from components.records.episode import FailureClass, ToolCall
from components.records.image_bank import ImageBank
from components.records.web import Page, WebPicture
from components.tools import messages
from components.tools.base import ToolFailure
from components.tools.clients.direct import DirectReader, PageReader, open_direct_reader
from components.tools.clients.errors import NotThere, OffLimits, ServiceError
from components.tools.clients.extraction import ExtractionLimits, ExtractionPool
from components.tools.clients.fetch import FetchLimits, PageFetcher
from components.tools.clients.guard import GuardedTransport
from components.tools.clients.http import Requester
from components.tools.clients.jina import JinaClient, ReadPage
from components.tools.failures import attributed
from components.tools.services import Services, open_services
from components.tools.source_policy import SourcePolicy
from components.tools.toolbox import Accepted
from components.world.app import WorldApp
from components.world.facts import build_facts
from components.world.pages import build_pages
from components.world.store import write_pages, write_pictures
from components.world.traps import TRAPS
from components.world.web import Web

T = TypeVar("T")
HOST = "127.0.0.1"


@cache
def small_world() -> Web:
    """Pages of a small world, and the pictures that stand on them, none of which is opened."""
    facts = build_facts(WorldParams(train_events=36, test_events=4))
    pages = sorted(build_pages(facts), key=lambda page: page.url)
    shown = [(event.photo_url, event.official_url) for event in facts.photographed]
    shown += [(person.portrait_url, person.profile_url) for person in facts.people]
    shown += [(shared.image_url, shared.post_url) for shared in facts.circulating]
    pictures = [
        WebPicture(image_url=url or "", page_url=on, title="t", sha256="0" * 64, width=1, height=1) for url, on in shown
    ]
    return Web(pages, pictures, lambda _: b"")


def transport() -> httpx.ASGITransport:
    return httpx.ASGITransport(app=WorldApp(small_world(), lambda _: []))


def run(use: Callable[[PageReader, PageReader], Awaitable[T]]) -> T:
    """With the vendor's reader and the direct one, both in the small world."""

    async def go() -> T:
        async with Requester(transport(), 10) as requester, open_direct_reader(ToolParams(), transport()) as direct:
            return await use(JinaClient(requester, "k"), direct)

    return asyncio.run(go())


def test_both_readers_give_the_same_page() -> None:
    async def use(vendor: PageReader, direct: PageReader) -> list[tuple[ReadPage, ReadPage]]:
        pages = small_world().pages
        return [(await vendor.read(page.url), await direct.read(page.url)) for page in pages]

    pairs = run(use)
    assert len(pairs) > 100
    # The vendor also tells what it bills.
    assert [direct for _, direct in pairs] == [vendor.model_copy(update={"tokens": 0}) for vendor, _ in pairs]
    assert sum(bool(direct.pictures) for _, direct in pairs) > 10


@pytest.mark.parametrize("url", ["https://nowhere.example/1", "https://kitchentable.example/none"])
def test_both_readers_miss_the_same_page(url: str) -> None:
    async def use(*readers: PageReader) -> None:
        for reader in readers:
            with pytest.raises(NotThere):
                await reader.read(url)

    run(use)


def visit(reader: str, url: str, bank: ImageBank) -> tuple[str, str, FailureClass | None]:
    """What a visit says, reason included."""

    async def go() -> tuple[str, str, FailureClass | None]:
        async with Requester(transport(), 10) as requester, open_direct_reader(ToolParams(), transport()) as direct:
            chosen = direct if reader == "direct" else None
            services = Services(requester, ToolParams(), bank, SourcePolicy(), reader=chosen)
            case = Case(case_id="c", image_path="x.png", image_sha256="0" * 64)
            toolbox = services.toolbox(case, b"")
            checked = toolbox.check(ToolCall(name="visit", arguments_json=f'{{"url": "{url}"}}'), 24)
            assert isinstance(checked, Accepted), checked
            seen = await toolbox.execute(checked, "o1")
            return seen.text, seen.payload_json, seen.failure

    return asyncio.run(go())


@pytest.mark.parametrize("pick", range(0, 100, 9))
def test_a_visit_says_the_same_with_either_reader(pick: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    bank = ImageBank(tmp_path_factory.mktemp("bank"))
    pages = [page for page in small_world().pages if "factcheck" not in page.url]
    url = pages[pick].url
    assert visit("direct", url, bank) == visit("jina", url, bank)


@pytest.mark.parametrize("reader", ["jina", "direct"])
def test_no_visit_shows_an_order(reader: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    bank = ImageBank(tmp_path_factory.mktemp("bank"))
    orders = [sentence for trap in TRAPS for sentence in (*trap.shown, *trap.hidden)]
    trapped = [page for page in small_world().pages if _carried(page)]
    assert {kind for page in trapped for kind in _carried(page)} >= {trap.kind for trap in TRAPS[:4]}
    for page in trapped:
        text, payload, failure = visit(reader, page.url, bank)
        assert failure is None
        assert not [order for order in orders if order[:30] in text]
        if "hidden text" not in _carried(page):
            assert '"dropped_instructions": 0' not in payload


def _carried(page: Page) -> list[str]:
    def plain(text: str) -> str:
        return text.replace("&#34;", '"')

    return [trap.kind for trap in TRAPS if any(text in plain(page.html) for text in (*trap.shown, *trap.hidden))]


@pytest.mark.parametrize(("reader", "kind"), [("jina", JinaClient), ("direct", DirectReader)])
def test_the_settings_choose_the_reader(reader: str, kind: type, tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    web = small_world()
    write_pages(paths.web, web.pages)
    write_pictures(paths.web, [])
    params = Params.model_validate({"tools": {"reader": reader}})
    before = len(psutil.Process().children())

    async def go() -> ReadPage:
        async with open_services(params, paths, ImageBank(tmp_path / "bank")) as services:
            assert isinstance(services.reader, kind)
            return await services.reader.read(web.pages[0].url)

    assert asyncio.run(go()).content == web.pages[0].markdown
    assert len(psutil.Process().children()) == before


# Against real servers on loopback.


@pytest.fixture(scope="module")
def hostile() -> Iterator[int]:
    with hostile_web() as port:
        yield port


def read(url: str, port: int) -> ReadPage:
    async def go() -> ReadPage:
        guard = GuardedTransport(allowed={(HOST, port)})
        async with PageFetcher(guard, FetchLimits(timeout_s=5)) as fetcher, ExtractionPool(1) as pool:
            return await DirectReader(fetcher, pool).read(url)

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("status", "kind"), [(404, NotThere), (410, NotThere), (401, ServiceError), (451, ServiceError)]
)
def test_a_missing_page_and_one_that_is_refused_differ(
    httpserver: HTTPServer, status: int, kind: type[Exception]
) -> None:
    httpserver.expect_request("/").respond_with_data("no", status=status)
    with pytest.raises(kind):
        read(httpserver.url_for("/").replace("localhost", HOST), httpserver.port)


def test_a_picture_is_a_page_without_text(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data(b"\x89PNG", content_type="image/png")
    assert read(f"http://{HOST}:{httpserver.port}/", httpserver.port).content == ""


def test_a_page_in_a_charset_that_its_server_names(httpserver: HTTPServer) -> None:
    body = "<html><head><title>Maß</title></head><body><article><p>Die Größe der Äpfel.</p></article></body></html>"
    httpserver.expect_request("/").respond_with_data(body.encode("latin-1"), content_type="text/html; charset=latin-1")
    page = read(f"http://{HOST}:{httpserver.port}/", httpserver.port)
    assert (page.title, page.content) == ("Maß", "Die Größe der Äpfel.")


def test_an_address_off_the_web_is_a_matter_of_policy_and_no_outage() -> None:
    with pytest.raises(ToolFailure) as caught, attributed("http://10.0.0.1/"):
        read("http://10.0.0.1/", 1)
    assert (caught.value.failure, caught.value.text) == (FailureClass.POLICY, messages.OFF_LIMITS)


@pytest.mark.slow
def test_hundreds_of_hostile_pages_end_in_text_or_in_the_readers_own_errors(hostile: int) -> None:
    """The small sister of `benchmarks/extract_fuzz.py`."""
    rng, counts = random.Random(11), Counter[str]()
    kinds = [*KINDS, *["mutated"] * 60]
    queue = [(rng.choice(kinds), seed) for seed in range(300)]
    limits = FetchLimits(timeout_s=2, body_bytes=2**21), ExtractionLimits(seconds=2, memory_bytes=384 * 2**20)

    async def go() -> list[int]:
        guard = GuardedTransport(allowed={(HOST, hostile)})
        async with PageFetcher(guard, limits[0]) as fetcher, ExtractionPool(2, limits[1]) as pool:
            reader = DirectReader(fetcher, pool)

            async def work() -> None:
                while queue:
                    kind, seed = queue.pop()
                    try:
                        page = await reader.read(f"http://{HOST}:{hostile}/{kind.replace(' ', '%20')}/{seed}")
                        counts["text" if page.content else "no text"] += 1
                    except (NotThere, OffLimits, ServiceError) as error:
                        counts[type(error).__name__] += 1

            await asyncio.gather(*(work() for _ in range(8)))
            return pool.pids

    pids = asyncio.run(go())
    assert sum(counts.values()) == 300
    assert counts["text"] > 80
    assert counts["ServiceError"] > 20
    assert counts["OffLimits"] > 0
    assert not [pid for pid in pids if psutil.pid_exists(pid)]
