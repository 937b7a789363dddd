"""What calls take, and what is really sent for them, at a server that counts as well."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from vendor_doubles import COMMON, Vendors, answer, serving

from components.records.image_bank import sha256_hex
from components.records.usage import Usage
from components.tools.clients.baidu_ocr import BaiduOcrClient
from components.tools.clients.errors import NotThere, ServiceError
from components.tools.clients.http import Requester
from components.tools.clients.jina import JinaClient
from components.tools.clients.serper import SerperClient
from components.tools.metering import charged_to, tallied
from components.tools.recording import recorded, replayed
from components.tools.request_key import asked_by
from components.tools.transports import NetworkTransport, RecordTransport, ReplayTransport, Sent

PICTURE = bytes(range(256))
Use = Callable[[Requester, str], Awaitable[object]]


class Book:
    """An account that only remembers."""

    def __init__(self) -> None:
        self.charges: list[tuple[str, Usage, bool]] = []

    def charge(self, tool: str, usage: Usage, *, billed: bool) -> None:
        self.charges.append((tool, usage, billed))

    @property
    def sent(self) -> dict[str, tuple[int, int]]:
        """Requests and units by meter."""
        found: dict[str, tuple[int, int]] = {}
        for _, usage, _ in self.charges:
            calls, units = found.get(usage.meter, (0, 0))
            found[usage.meter] = (calls + usage.calls, units + usage.units)
        return found


@pytest.fixture
def vendors() -> Iterator[Vendors]:
    with serving() as vendors:
        yield vendors


async def measured(use: Use, requester: Requester, url: str) -> tuple[dict[str, tuple[int, int]], Book]:
    """What the use takes, requests and units by meter, and what was sent."""
    book = Book()
    with charged_to(book), tallied("tool") as tally, suppress(ServiceError, NotThere):
        await use(requester, url)
    return {item.meter: (item.calls, item.units) for item in tally.usage}, book


def ask(use: Use, url: str, timeout_s: float = 5) -> tuple[dict[str, tuple[int, int]], Book]:
    async def go() -> tuple[dict[str, tuple[int, int]], Book]:
        async with Requester(Sent(NetworkTransport(), billed=True), timeout_s) as requester:
            return await measured(use, requester, url)

    return asyncio.run(go())


async def search(requester: Requester, url: str) -> object:
    return await SerperClient(requester, "k", url).search("gala")


async def lens(requester: Requester, url: str) -> object:
    return await SerperClient(requester, "k", url).lens(f"https://b.example/{sha256_hex(PICTURE)}.png")


async def read(requester: Requester, url: str) -> object:
    return await JinaClient(requester, "k", url).read("https://example.com/")


async def text(requester: Requester, url: str) -> object:
    return await BaiduOcrClient(requester, "k", "s", url).read(PICTURE)


@pytest.mark.parametrize(
    ("use", "taken"),
    [
        (search, {"serper credits": (1, 1)}),
        (read, {"jina tokens": (1, 120)}),
        (text, {"baidu general pictures": (1, 1)}),
    ],
)
def test_a_call_takes_and_is_charged_what_the_vendor_bills(
    vendors: Vendors, use: Use, taken: dict[str, tuple[int, int]]
) -> None:
    used, book = ask(use, vendors.url)
    assert used == book.sent == taken
    assert {(tool, billed) for tool, _, billed in book.charges} == {("tool", True)}


def test_credits_are_what_the_answer_says_and_else_what_is_usual(vendors: Vendors) -> None:
    assert ask(lens, vendors.url)[0] == {"serper credits": (1, 1)}, "the double says one"
    vendors.faults["serper"] = lambda: answer({"organic": []})
    assert ask(lens, vendors.url)[0] == {"serper credits": (1, 3)}
    vendors.faults["serper"] = lambda: answer({"organic": [], "credits": 7})
    assert ask(lens, vendors.url)[0] == {"serper credits": (1, 7)}


def test_each_attempt_that_was_sent_is_charged_and_a_refusal_is_free(vendors: Vendors) -> None:
    fails = iter([True, True, False])
    good = {"organic": [], "credits": 1}
    vendors.faults["serper"] = lambda: COMMON["502"]() if next(fails) else answer(good)
    used, book = ask(search, vendors.url)
    assert used == {"serper credits": (1, 1)}, "the call takes what it always takes"
    assert book.sent == {"serper credits": (3, 1)}
    assert vendors.asked == ["/search"] * 3


def test_a_token_that_has_run_out_is_no_second_call(vendors: Vendors) -> None:
    async def twice(requester: Requester, url: str) -> object:
        ocr = BaiduOcrClient(requester, "k", "s", url)
        await ocr.read(PICTURE)
        vendors.good_token = "24.other"
        return await ocr.read(PICTURE)

    used, book = ask(twice, vendors.url)
    assert used == {"baidu general pictures": (2, 2)}
    assert book.sent == {"baidu general pictures": (3, 2)}


@pytest.mark.parametrize(("fault", "units"), [("hangs", 1), ("half", 1), ("no json", 0), ("401", 0), ("moved", 0)])
def test_an_answer_that_never_came_may_have_been_billed(vendors: Vendors, fault: str, units: int) -> None:
    vendors.faults["serper"] = COMMON[fault]
    used, book = ask(search, vendors.url, timeout_s=0.4)
    assert used == {"serper credits": (1, 0)}
    assert book.sent == {"serper credits": (1, units)}


def test_where_nobody_listens_nothing_is_charged() -> None:
    used, book = ask(search, "http://127.0.0.1:9")
    assert used == {"serper credits": (1, 0)}
    assert set(book.sent.values()) == {(0, 0)}


def test_a_charge_is_there_before_the_vendor_sees_the_request(vendors: Vendors) -> None:
    book, seen = Book(), []

    def look() -> object:
        seen.append(dict(book.sent))
        return answer({"organic": [], "credits": 1})

    vendors.faults["serper"] = look  # type: ignore[assignment]

    async def go() -> None:
        async with Requester(Sent(NetworkTransport(), billed=True), 5) as requester:
            with charged_to(book):
                await search(requester, vendors.url)

    asyncio.run(go())
    assert seen == [{"serper credits": (1, 1)}]


def test_a_page_that_is_not_there_is_billed_as_the_reader_says(vendors: Vendors) -> None:
    missing = {"content": "", "warning": "Target URL returned error 404: Not Found", "usage": {"tokens": 2}}
    vendors.faults["jina"] = lambda: answer({"code": 200, "data": missing})
    used, book = ask(read, vendors.url)
    assert used == book.sent == {"jina tokens": (1, 2)}


def test_what_a_recording_answers_is_taken_alike_and_charged_to_nobody(vendors: Vendors, tmp_path: Path) -> None:
    async def both(requester: Requester, url: str) -> object:
        return [await search(requester, url), await read(requester, url)]

    async def record() -> list[tuple[dict[str, tuple[int, int]], Book]]:
        with recorded(tmp_path) as recording:
            transport = RecordTransport(Sent(NetworkTransport(), billed=True), recording)
            async with Requester(transport, 5) as requester:
                found = []
                for asker in ("a", "b"):
                    with asked_by(asker):
                        found.append(await measured(both, requester, vendors.url))
                return found

    async def replay() -> tuple[dict[str, tuple[int, int]], Book]:
        with replayed(tmp_path) as recording:
            async with Requester(ReplayTransport(recording), 5) as requester:
                with asked_by("a"):
                    return await measured(both, requester, "http://127.0.0.1:9")

    fails = iter([True, False])
    vendors.faults["serper"] = lambda: COMMON["502"]() if next(fails) else answer({"organic": [], "credits": 1})
    (first, paid), (second, free) = asyncio.run(record())
    again, nothing = asyncio.run(replay())
    assert first == second == again == {"serper credits": (1, 1), "jina tokens": (1, 120)}
    assert paid.sent == {"serper credits": (2, 1), "jina tokens": (1, 120)}, "the first attempt has failed"
    assert free.charges == nothing.charges == []
