"""What a benchmark excludes cannot be reached by any tool, whatever the way; everything else can."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from components.config.paths import Paths
from components.config.schema import Params, ToolParams
from components.records.case import Case
from components.records.episode import Observation, ToolCall
from components.records.image_bank import ImageBank, sha256_hex
from components.records.source_access import SourceAccess
from components.records.web import Page, SiteKind, WebPicture
from components.storage.atomic import write_json
from components.tools.clients.http import Requester
from components.tools.services import Services, open_services
from components.tools.source_policy import SourcePolicy
from components.tools.toolbox import Refused, Toolbox
from components.world.app import WorldApp
from components.world.store import write_pages, write_pictures
from components.world.web import Web

POST, IMAGE = "https://chirp.example/night-owl/170000001", "https://chirp.example/night-owl/170000001/picture.png"
OTHER = "https://chirp.example/night-owl/170000002"
POLICY = SourcePolicy(excluded=frozenset({POST, IMAGE}))

Seen = Observation | str
Use = Callable[..., list[Seen]]


@pytest.fixture
def shared(web: Web, picture: bytes, other: bytes, tmp_path: Path) -> Web:
    """The web with a post that shows the case's very picture, and another post."""
    bank = ImageBank(tmp_path / "shared")
    text = "@night-owl wrote: Somebody sent me this picture of Harvest Gala."
    pages = [
        Page(url=url, title="@night-owl on Chirp", kind=SiteKind.SOCIAL, published="2032-05-01", html="", markdown=text)
        for url in (POST, OTHER)
    ]
    rows = [
        WebPicture(image_url=f"{url}/picture.png", page_url=url, title="Picture of Harvest Gala",
                   sha256=bank.put(data), width=320, height=240)
        for url, data in ((POST, picture), (OTHER, other))
    ]  # fmt: skip
    kept = [row for row in web.pictures if "soup" not in row.image_url]

    def read(digest: str) -> bytes:
        return bank.read(digest) if digest in bank else web.read(digest)

    return Web([*web.pages, *pages], [*kept, *rows], read)


async def use(toolbox: Toolbox, calls: list[tuple[str, dict[str, str]]]) -> list[Seen]:
    seen: list[Seen] = []
    for number, (name, arguments) in enumerate(calls, 1):
        checked = toolbox.check(ToolCall(name=name, arguments_json=json.dumps(arguments)), 24)
        refused = isinstance(checked, Refused)
        seen.append(checked.sentence if refused else await toolbox.execute(checked, f"o{number}"))
    return seen


def case_of(picture: bytes) -> Case:
    return Case(case_id="c1", image_path="x.png", image_sha256=sha256_hex(picture))


@pytest.fixture
def investigate(shared: Web, picture: bytes, tmp_path: Path) -> Use:
    def go(
        *calls: tuple[str, dict[str, str]],
        policy: SourcePolicy = POLICY,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> list[Seen]:
        async def run() -> list[Seen]:
            inner = transport or httpx.ASGITransport(app=WorldApp(shared, lambda _: []))
            async with Requester(inner, 10) as requester:
                services = Services(requester, ToolParams(search_results=10), ImageBank(tmp_path / "bank"), policy)
                return await use(services.toolbox(case_of(picture), picture), list(calls))

        return asyncio.run(run())

    return go


SEARCHES = [
    ("text_search", {"query": "Harvest Gala picture"}),
    ("text_image_search", {"query": "Picture of Harvest Gala"}),
    ("reverse_image_search", {}),
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search[0])
def test_no_search_shows_it_and_what_is_left_out_is_counted(
    investigate: Use, search: tuple[str, dict[str, str]]
) -> None:
    (open_to_all,), (kept,) = investigate(search, policy=SourcePolicy()), investigate(search)
    assert isinstance(open_to_all, Observation)
    assert isinstance(kept, Observation)
    assert POST in open_to_all.text
    assert POST not in kept.model_dump_json()
    counts = [json.loads(seen.payload_json)["policy_filtered_count"] for seen in (open_to_all, kept)]
    assert counts[1] == counts[0] + 1
    if search[0] != "reverse_image_search":
        assert OTHER in kept.text


@pytest.mark.parametrize(
    "url",
    [
        POST,
        f"{POST}/?from=feed#top",
        f"https://web.archive.org/web/2032/{POST}",
        f"https://i0.wp.com/{IMAGE.removeprefix('https://')}",
        f"https://r.jina.ai/{POST}",
        f"https://news.example/gala?next={POST.replace(':', '%3A').replace('/', '%2F')}",
    ],
)
def test_neither_page_nor_picture_can_be_opened_in_any_wrapping(investigate: Use, url: str) -> None:
    blocked = "blocked"
    opened, compared = investigate(("visit", {"url": url}), ("compare_with_reference", {"reference_url": url}))
    assert isinstance(opened, str)
    assert blocked in opened
    assert isinstance(compared, str)
    assert blocked in compared


def test_a_query_that_names_it_is_refused(investigate: Use) -> None:
    query = {"query": f"what does {POST} show"}
    assert all(isinstance(seen, str) for seen in investigate(("text_search", query), ("text_image_search", query)))


def test_a_neighbouring_post_stays_open(investigate: Use) -> None:
    (seen,) = investigate(("visit", {"url": OTHER}))
    assert isinstance(seen, Observation)
    assert "Harvest Gala" in seen.text


class Leading(httpx.AsyncBaseTransport):
    """A network on which one host leads elsewhere."""

    def __init__(self, inner: httpx.AsyncBaseTransport, host: str, answer: httpx.Response) -> None:
        self._inner, self._host, self._answer = inner, host, answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self._answer if request.url.host == self._host else await self._inner.handle_async_request(request)


def test_a_page_that_leads_there_is_not_shown(investigate: Use, shared: Web) -> None:
    body = {"code": 200, "data": {"title": "x", "url": POST, "content": "Somebody sent me this."}}
    inner = httpx.ASGITransport(app=WorldApp(shared, lambda _: []))
    network = Leading(inner, "r.jina.ai", httpx.Response(200, json=body))
    (seen,) = investigate(("visit", {"url": "https://news.example/gala"}), transport=network)
    assert isinstance(seen, Observation)
    assert (seen.failure, "Somebody" in seen.model_dump_json()) == ("policy", False)


def test_a_picture_that_leads_there_is_not_shown(investigate: Use, shared: Web) -> None:
    inner = httpx.ASGITransport(app=WorldApp(shared, lambda _: []))
    network = Leading(inner, "people.example", httpx.Response(302, headers={"Location": IMAGE}))
    portrait = {"reference_url": "https://people.example/mara-venn.png"}
    calls = [("text_image_search", {"query": "Mara Venn"}), ("compare_with_reference", portrait)]
    *_, seen = investigate(*calls, transport=network)
    assert isinstance(seen, Observation)
    assert not seen.succeeded
    assert not seen.images


def test_what_the_benchmark_excludes_is_excluded_wherever_tools_are_opened(
    shared: Web, picture: bytes, tmp_path: Path
) -> None:
    paths = Paths(tmp_path / "checkout")
    bank = ImageBank(paths.web)
    for row in shared.pictures:
        bank.put(shared.read(row.sha256))
    write_pages(paths.web, shared.pages)
    write_pictures(paths.web, shared.pictures)

    async def search() -> tuple[str, str]:
        async with open_services(Params(), paths, ImageBank(tmp_path / "bank")) as services:
            (seen,) = await use(services.toolbox(case_of(picture), picture), [("reverse_image_search", {})])
            return services.policy.digest, str(seen)

    before = asyncio.run(search())
    write_json(paths.source_access, SourceAccess(excluded_urls=(POST, IMAGE)))
    after = asyncio.run(search())
    assert before[0] != after[0]
    assert POST in before[1]
    assert POST not in after[1]
