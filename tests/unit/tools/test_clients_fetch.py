"""What one page may cost, against a server that wants more."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest
from hostile_web import hostile_web
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from components.tools.clients.errors import OffLimits, Overloaded, ServiceError
from components.tools.clients.fetch import Fetched, FetchLimits, PageFetcher
from components.tools.clients.guard import GuardedTransport
from components.tools.clients.http import ATTEMPTS
from components.tools.clients.unpack import Body

LIMITS = FetchLimits(timeout_s=60, body_bytes=2**20)


@pytest.fixture(scope="module")
def hostile() -> Iterator[int]:
    with hostile_web() as port:
        yield port


def fetch(port: int, path: str, limits: FetchLimits = LIMITS) -> Fetched:
    async def go() -> Fetched:
        async with PageFetcher(GuardedTransport(allowed={("127.0.0.1", port)}), limits) as fetcher:
            return await fetcher.fetch(f"http://127.0.0.1:{port}{path}")

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("huge", "a body of more than"),
        ("declared", "a body of more than"),
        ("endless", "a body of more than"),
        ("bomb", "a body of more than"),
        ("raw bomb", "a body of more than"),
        ("coded", "a body in coding"),
    ],
)
def test_a_body_beyond_the_limits_is_refused_in_little_memory(hostile: int, kind: str, reason: str) -> None:
    tracemalloc.start()
    with pytest.raises(ServiceError, match=reason):
        fetch(hostile, f"/{kind}/1".replace(" ", "%20"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * 2**20


def test_a_body_that_comes_too_slowly_is_given_up(hostile: int) -> None:
    with pytest.raises(ServiceError, match="no page within 1 s"):
        fetch(hostile, "/drip/1", FetchLimits(timeout_s=1))


@pytest.mark.parametrize("seed", range(4))
def test_headers_have_a_limit(hostile: int, seed: int) -> None:
    with pytest.raises(ServiceError):
        fetch(hostile, f"/headers/{seed}")


@pytest.mark.parametrize("seed", range(12))
def test_what_is_no_http_is_a_failure_of_the_page(hostile: int, seed: int) -> None:
    with pytest.raises(ServiceError):
        fetch(hostile, f"/broken/{seed}", FetchLimits(timeout_s=1))


def test_redirects_end(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/again").respond_with_data("", status=302, headers={"Location": "/again"})
    with pytest.raises(ServiceError, match="TooManyRedirects"):
        fetch(httpserver.port, "/again")
    assert len(httpserver.log) == LIMITS.redirects + 1


def test_a_page_comes_with_type_and_charset(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data(b"\xe9", content_type='Text/HTML; Charset="ISO-8859-1"')
    page = fetch(httpserver.port, "/")
    assert (page.status, page.media_type, page.charset, page.body) == (200, "text/html", "ISO-8859-1", b"\xe9")


@pytest.mark.timeout(60)
def test_a_type_of_blanks_costs_nothing(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data(b"x", content_type=f"text/html; charset={' ' * 30_000}?")
    assert fetch(httpserver.port, "/").charset == ""


@pytest.mark.parametrize(("kind", "status"), [("image/png", 200), ("application/pdf", 200), ("text/html", 404)])
def test_a_body_that_is_no_page_is_not_read(httpserver: HTTPServer, kind: str, status: int) -> None:
    httpserver.expect_request("/").respond_with_data(b"x" * 5000, status=status, content_type=kind)
    page = fetch(httpserver.port, "/")
    assert (page.status, page.body) == (status, b"")


def test_a_broken_server_is_asked_again_and_then_given_up(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data("", status=503)
    with pytest.raises(Overloaded, match="status 503"):
        fetch(httpserver.port, "/")
    assert len(httpserver.log) == ATTEMPTS


def test_an_overloaded_server_is_asked_again(httpserver: HTTPServer) -> None:
    answers = [Response("", 429, {"Retry-After": "0"}), Response("page", content_type="text/html")]

    def answer(request: Request) -> Response:
        return answers.pop(0)

    httpserver.expect_request("/").respond_with_handler(answer)
    assert fetch(httpserver.port, "/").body == b"page"


@pytest.mark.parametrize("url", ["http://[", "http://a b/", "http://\x00/", "http://" + "a" * 70_000, "//x", "x", ""])
def test_what_is_no_address_is_off_limits(url: str) -> None:
    async def go() -> None:
        async with PageFetcher(GuardedTransport()) as fetcher:
            await fetcher.fetch(url)

    with pytest.raises(OffLimits):
        asyncio.run(go())


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("", b"page" * 9),
        ("identity", b"page" * 9),
        ("gzip", gzip.compress(b"page" * 9)),
        (" GZIP ", gzip.compress(b"page" * 4) + gzip.compress(b"page" * 5)),
        ("deflate", zlib.compress(b"page" * 9)),
        ("deflate", zlib.compress(b"page" * 9, wbits=-15)),
    ],
)
@pytest.mark.parametrize("step", [1, 7, 1000])
def test_a_body_is_unpacked_as_it_comes(coding: str, packed: bytes, step: int) -> None:
    body = Body("s", coding, 100)
    for at in range(0, len(packed), step):
        body.add(packed[at : at + step])
    assert body.taken() == b"page" * 9


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "compress", "aws-chunked"])
def test_a_coding_that_was_not_asked_for_is_refused(coding: str) -> None:
    with pytest.raises(ServiceError, match="coding"):
        Body("s", coding, 100)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_packed_body_that_is_none_is_broken(coding: str) -> None:
    with pytest.raises(ServiceError, match="broken"):
        Body("s", coding, 100).add(b"\xff\xff\xff no gzip at all")
