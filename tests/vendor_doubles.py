"""A server on loopback that speaks the vendors' formats, and breaks as it is told."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

HANGS_S = 1.5
ROW = {"title": "Gala", "link": "https://a.example/1"}
PICTURE_ROW = {**ROW, "imageUrl": "https://a.example/1.png"}
PAGE = {"title": "T", "url": "https://example.com/", "content": "text", "usage": {"tokens": 120}}
WORD = {"words": "EviFlow", "location": {"left": 1, "top": 2, "width": 30, "height": 14}}


def answer(value: object, status: int = 200, **headers: str) -> Response:
    names = {name.replace("_", "-"): text for name, text in headers.items()}
    return Response(json.dumps(value), status, {"Content-Type": "application/json", **names})


def half() -> Response:
    """A reply that breaks off."""
    response = Response('{"organic": [{"title"')
    response.automatically_set_content_length = False
    response.headers["Content-Length"] = "4096"
    return response


def hang() -> Response:
    time.sleep(HANGS_S)
    return answer({})


COMMON: dict[str, Callable[[], Response]] = {
    "hangs": hang,
    "half": half,
    "no json": lambda: Response('{"organic": ['),
    "html": lambda: Response("<html>Bad gateway</html>", headers={"Content-Type": "text/html"}),
    "list": lambda: answer([]),
    "other keys": lambda: answer({"hello": 1}),
    "error body": lambda: answer({"message": "Internal error", "statusCode": 500}),
    "moved": lambda: Response("", 302, {"Location": "https://elsewhere.example/"}),
    "502": lambda: Response("<html>", 502),
    "401": lambda: answer({"message": "no"}, 401),
    "403": lambda: answer({"message": "Unauthorized.", "statusCode": 403}, 403),
}
"""What any service may do; none of it is an empty result."""

QUOTA = {
    "serper": lambda: answer({"message": "Not enough credits", "statusCode": 400}, 400),
    "jina": lambda: answer({"data": None, "code": 402, "name": "InsufficientBalanceError", "status": 40203}, 402),
    "baidu": lambda: answer({"log_id": 1, "error_code": 17, "error_msg": "Open api daily request limit reached"}),
}


class Vendors:
    """Serper, Jina and Baidu below one address."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("").rstrip("/")
        self.faults: dict[str, Callable[[], Response]] = {}
        """What a vendor does instead of answering."""
        self.asked: list[str] = []
        self.queries: list[str] = []
        """What was searched for."""
        self.tokens = 0
        self.good_token = "24.first"
        server.expect_request("/oauth/2.0/token").respond_with_handler(self._token)
        server.expect_request("/rest/2.0/ocr/v1/general", method="POST").respond_with_handler(self._text)
        for path in ("/search", "/images", "/lens"):
            server.expect_request(path, method="POST").respond_with_handler(self._search)
        server.expect_request("/https://example.com/").respond_with_handler(self._page)

    def _broken(self, vendor: str, request: Request) -> Response | None:
        self.asked.append(request.path)
        return self.faults[vendor]() if vendor in self.faults else None

    def _search(self, request: Request) -> Response:
        self.queries.append(request.get_json().get("q", ""))
        rows = {"images": [PICTURE_ROW]} if request.path == "/images" else {"organic": [PICTURE_ROW]}
        echo = {"searchParameters": request.get_json(), "credits": 1}
        return self._broken("serper", request) or answer({**echo, **rows})

    def _page(self, request: Request) -> Response:
        return self._broken("jina", request) or answer({"code": 200, "status": 20000, "data": PAGE})

    def _token(self, request: Request) -> Response:
        self.tokens += 1
        self.good_token = f"24.number-{self.tokens}"
        return answer({"access_token": self.good_token, "expires_in": 2_592_000})

    def _text(self, request: Request) -> Response:
        if request.args.get("access_token") != self.good_token:
            return answer({"error_code": 110, "error_msg": "Access token invalid or no longer valid"})
        return self._broken("baidu", request) or answer({"words_result_num": 1, "words_result": [WORD]})


@contextmanager
def serving() -> Iterator[Vendors]:
    """A server of its own, which answers one request while another hangs."""
    with HTTPServer(threaded=True) as server:
        yield Vendors(server)
