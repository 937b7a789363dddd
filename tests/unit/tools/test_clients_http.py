"""The retry layer and the clients against a real server on loopback."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, TypeVar

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from components.tools.clients.baidu_ocr import BaiduOcrClient
from components.tools.clients.errors import NotThere, Overloaded, Rejected, ServiceError, Unusable
from components.tools.clients.http import ATTEMPTS, Requester
from components.tools.clients.jina import JinaClient
from components.tools.clients.pictures import PictureClient
from components.tools.clients.serper import SerperClient
from components.tools.clients.upload import UploadClient

T = TypeVar("T")


def run(use: Callable[[Requester], Awaitable[T]], timeout_s: float = 5) -> T:
    async def go() -> T:
        async with Requester(None, timeout_s) as requester:
            return await use(requester)

    return asyncio.run(go())


def base(server: HTTPServer) -> str:
    return server.url_for("").rstrip("/")


def search(server: HTTPServer, timeout_s: float = 5) -> Any:
    return run(lambda requester: SerperClient(requester, "secret-key", base(server)).search("gala"), timeout_s)


def answer(server: HTTPServer, *responses: Response, path: str = "/search") -> list[float]:
    """Answer with each response in turn, then with the last; returns the times of the requests."""
    times: list[float] = []

    def handle(request: Request) -> Response:
        times.append(time.monotonic())
        return responses[min(len(times), len(responses)) - 1]

    server.expect_request(path).respond_with_handler(handle)
    return times


def json_response(body: str, status: int = 200, **headers: str) -> Response:
    return Response(body, status, {key.replace("_", "-"): value for key, value in headers.items()})


FOUND = '{"organic": [{"title": "Gala", "link": "https://a.example"}]}'


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_overload_is_tried_again(httpserver: HTTPServer, status: int) -> None:
    times = answer(httpserver, json_response("{}", status), json_response(FOUND))
    assert search(httpserver)[0].title == "Gala"
    assert len(times) == 2


@pytest.mark.parametrize("form", ["seconds", "date"])
@pytest.mark.incident("JS-3")
def test_retry_after_is_honoured(httpserver: HTTPServer, form: str) -> None:
    value = "1" if form == "seconds" else format_datetime(datetime.now(UTC) + timedelta(seconds=4), usegmt=True)
    times = answer(httpserver, json_response("{}", 429, Retry_After=value), json_response(FOUND))
    search(httpserver)
    assert times[1] - times[0] >= 0.95


def test_retry_after_nought_means_now(httpserver: HTTPServer) -> None:
    times = answer(httpserver, json_response("{}", 503, Retry_After="0"), json_response(FOUND))
    search(httpserver)
    assert len(times) == 2


def test_more_patience_than_there_is_ends_at_once(httpserver: HTTPServer) -> None:
    times = answer(httpserver, json_response("{}", 429, Retry_After="3600"))
    with pytest.raises(Overloaded, match="status 429"):
        search(httpserver)
    assert len(times) == 1


def test_a_service_that_stays_broken_is_given_up_and_not_empty(httpserver: HTTPServer) -> None:
    times = answer(httpserver, json_response("{}", 503))
    with pytest.raises(ServiceError, match="status 503"):
        search(httpserver)
    assert len(times) == ATTEMPTS


@pytest.mark.parametrize(("status", "body"), [(401, "{}"), (403, "{}"), (400, '{"message": "Not enough credits"}')])
@pytest.mark.incident("JS-3")
def test_a_refused_key_is_never_tried_again(httpserver: HTTPServer, status: int, body: str) -> None:
    times = answer(httpserver, json_response(body, status))
    with pytest.raises(Rejected) as caught:
        search(httpserver)
    assert len(times) == 1
    assert "secret-key" not in str(caught.value)


@pytest.mark.incident("DR-11")
def test_an_answer_that_takes_too_long_ends_at_the_deadline(httpserver: HTTPServer) -> None:
    def slow(request: Request) -> Response:
        time.sleep(1.5)
        return json_response(FOUND)

    httpserver.expect_request("/search").respond_with_handler(slow)
    started = time.monotonic()
    with pytest.raises(ServiceError, match="no answer within"):
        search(httpserver, 0.4)
    assert time.monotonic() - started < 1.2


def test_a_server_that_is_not_there_is_an_outage() -> None:
    with pytest.raises(ServiceError, match="no connection"):
        run(lambda requester: SerperClient(requester, "k", "http://127.0.0.1:9").search("gala"))


@pytest.mark.parametrize("body", ["", "<html>", "[]", '{"organic": 3}'])
def test_an_answer_in_another_form_is_a_failure(httpserver: HTTPServer, body: str) -> None:
    answer(httpserver, json_response(body))
    with pytest.raises(ServiceError):
        search(httpserver)


@pytest.mark.incident("JS-3")
def test_no_hits_and_no_service_differ(httpserver: HTTPServer) -> None:
    answer(httpserver, json_response('{"organic": [], "credits": 1}'))
    assert search(httpserver) == []


def read_page(server: HTTPServer) -> Any:
    return run(lambda requester: JinaClient(requester, "k", base(server)).read("https://a.example/1"))


def page(body: str, status: int = 200) -> Response:
    return json_response(body, status)


def test_a_page_is_read_with_its_pictures(httpserver: HTTPServer) -> None:
    data = '{"title": "T", "url": "https://b.example/", "content": "text", "images": {"Image 1": "p"}}'
    body = f'{{"code": 200, "data": {data}}}'
    answer(httpserver, page(body), path="/https://a.example/1")
    found = read_page(httpserver)
    assert (found.title, found.url, found.content, found.pictures) == ("T", "https://b.example/", "text", ("p",))
    request = httpserver.log[0][0]
    assert request.headers["Authorization"] == "Bearer k"
    assert request.headers["Accept"] == "application/json"


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ('{"data": {"content": "x", "warning": "Target URL returned error 404: Not Found"}}', 200, NotThere),
        ('{"data": {"content": "x", "warning": "Target URL returned error 503: Down"}}', 200, ServiceError),
        ('{"data": null, "code": 400, "name": "ParamValidationError", "message": "no such host"}', 400, NotThere),
        ('{"data": null, "code": 422, "name": "AssertionFailureError"}', 422, ServiceError),
        ('{"data": null, "code": 401, "name": "AuthenticationFailedError"}', 401, Rejected),
        ('{"data": null, "code": 402, "name": "InsufficientBalanceError"}', 402, Rejected),
        ('{"data": null, "code": 451, "name": "SecurityCompromiseError"}', 451, ServiceError),
    ],
)
def test_a_missing_page_and_a_broken_reader_differ(
    httpserver: HTTPServer, body: str, status: int, kind: type[Exception]
) -> None:
    answer(httpserver, page(body, status), path="/https://a.example/1")
    with pytest.raises(kind):
        read_page(httpserver)


def ocr(server: HTTPServer, times: int = 1) -> Any:
    async def read(requester: Requester) -> Any:
        client = BaiduOcrClient(requester, "k", "s", base(server))
        return [await client.read(b"\xfb\xff picture") for _ in range(times)]

    return run(read)


def recognises(server: HTTPServer, *bodies: str) -> tuple[list[float], list[float]]:
    tokens = answer(server, json_response('{"access_token": "t", "expires_in": 2592000}'), path="/oauth/2.0/token")
    reads = answer(server, *map(json_response, bodies), path="/rest/2.0/ocr/v1/general")
    return tokens, reads


LINE = '{"words_result": [{"words": "Gala", "location": {"left": 1, "top": 2, "width": 3, "height": 4}}]}'


def test_a_token_is_asked_for_once_and_the_picture_arrives_whole(httpserver: HTTPServer) -> None:
    tokens, reads = recognises(httpserver, LINE)
    lines = ocr(httpserver, times=3)
    assert lines[0][0].text == "Gala"
    assert (len(tokens), len(reads)) == (1, 3)
    sent = next(request for request, _ in httpserver.log if "general" in request.path)
    assert sent.form["image"] == "+/8gcGljdHVyZQ=="
    assert sent.args["access_token"] == "t"


def test_no_secret_reaches_a_log(httpserver: HTTPServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    recognises(httpserver, '{"error_code": 18, "error_msg": "busy"}', LINE)
    run(lambda requester: BaiduOcrClient(requester, "my-key", "my-secret", base(httpserver)).read(b"x"))
    # The test's own server logs what it was asked.
    written = "\n".join(record.getMessage() for record in caplog.records if record.name != "werkzeug")
    assert "my-secret" not in written
    assert "my-key" not in written


def test_a_stale_token_is_renewed_once(httpserver: HTTPServer) -> None:
    tokens, reads = recognises(httpserver, '{"error_code": 111, "error_msg": "Access token expired"}', LINE)
    assert ocr(httpserver)[0][0].text == "Gala"
    assert (len(tokens), len(reads)) == (2, 2)


def test_a_busy_service_is_tried_again_though_its_status_is_200(httpserver: HTTPServer) -> None:
    _, reads = recognises(httpserver, '{"error_code": 18, "error_msg": "Open api qps request limit reached"}', LINE)
    assert ocr(httpserver)[0][0].text == "Gala"
    assert len(reads) == 2


@pytest.mark.parametrize(("code", "kind"), [(17, Rejected), (110, Rejected), (216201, ServiceError)])
def test_other_errors_of_the_service_are_failures(httpserver: HTTPServer, code: int, kind: type[Exception]) -> None:
    recognises(httpserver, f'{{"error_code": {code}, "error_msg": "no"}}')
    with pytest.raises(kind, match=str(code)):
        ocr(httpserver)


@pytest.mark.parametrize("body", ["{}", '{"words_result": [{"words": "x"}]}', '{"words_result": ["x"]}'])
def test_an_answer_without_lines_is_no_empty_picture(httpserver: HTTPServer, body: str) -> None:
    recognises(httpserver, body)
    with pytest.raises(ServiceError):
        ocr(httpserver)


def test_a_picture_that_is_missing_or_none_or_moved(httpserver: HTTPServer, picture: bytes) -> None:
    httpserver.expect_request("/p.png").respond_with_data(picture)
    httpserver.expect_request("/text").respond_with_data("text")
    httpserver.expect_request("/old.png").respond_with_data("", 302, {"Location": httpserver.url_for("/p.png")})
    httpserver.expect_request("/gone.png").respond_with_data("", 410)

    def download(path: str) -> Any:
        return run(lambda requester: PictureClient(requester).download(httpserver.url_for(path)))

    assert download("/p.png").png == picture
    assert download("/old.png").url == httpserver.url_for("/p.png")
    with pytest.raises(Unusable):
        download("/text")
    with pytest.raises(NotThere):
        download("/gone.png")


def test_an_endless_answer_is_cut_off(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/p.png").respond_with_data(b"\0" * (25 * 2**20))
    with pytest.raises(ServiceError, match="more than"):
        run(lambda requester: PictureClient(requester).download(httpserver.url_for("/p.png")))


def test_an_upload_that_fails_is_a_failure(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/", method="PUT").respond_with_data("", 507)
    with pytest.raises(ServiceError):
        run(lambda requester: UploadClient(requester, base(httpserver)).put(b"x"))


@pytest.mark.incident("CO-2")
def test_every_connection_is_closed_with_the_requester(httpserver: HTTPServer) -> None:
    answer(httpserver, json_response(FOUND))

    async def use() -> Requester:
        async with Requester(None, 5) as requester:
            await asyncio.gather(*(SerperClient(requester, "k", base(httpserver)).search("x") for _ in range(8)))
            assert not requester.closed
            return requester

    assert asyncio.run(use()).closed
