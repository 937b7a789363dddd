"""Jina Reader: `GET r.jina.ai/<url>` returns the readable text of a page, as JSON when the client accepts JSON.

Errors are JSON with `code`, `name`, five-digit `status` and `readableMessage`. A page that is missing is no error of
the reader's: it answers 200 with a `warning` that names the target's status.
"""

import math
import time
from collections import deque
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from components.records.web import Page
from components.world.web import Web, host_of

HOST = "r.jina.ai"


class RateLimit:
    """So many requests in any minute."""

    def __init__(self, per_minute: int | None) -> None:
        self.per_minute = per_minute
        self._taken: deque[float] = deque()

    def take(self) -> float:
        """Seconds to wait; 0 when the request may pass."""
        if self.per_minute is None:
            return 0.0
        now = time.monotonic()
        while self._taken and now - self._taken[0] >= 60:
            self._taken.popleft()
        if len(self._taken) >= self.per_minute:
            return 60 - (now - self._taken[0])
        self._taken.append(now)
        return 0.0


class JinaReader:
    """Reads the pages of one web; an ASGI application, because the path holds a whole URL.

    Args:
        web: what there is to read.
        per_minute: requests that are answered in a minute; None for no limit.

    """

    def __init__(self, web: Web, per_minute: int | None = None) -> None:
        self._web = web
        self._rate = RateLimit(per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.answer(Request(scope, receive))(scope, receive, send)

    def answer(self, request: Request) -> Response:
        """The page that the path names."""
        url = _target(request.scope)
        if not request.headers.get("authorization", "").removeprefix("Bearer").strip():
            return _error(401, 40104, "AuthenticationRequiredError", "Authentication is required to use this endpoint.")
        if (wait := self._rate.take()) > 0:
            message = f"Per UID rate limit exceeded ({self._rate.per_minute} times a minute)"
            refusal = _error(429, 42903, "RateLimitTriggeredError", message)
            refusal.headers["Retry-After"] = str(math.ceil(wait))
            return refusal
        if not url.startswith(("http://", "https://")) or not host_of(url):
            return _error(400, 40001, "ParamValidationError", "Invalid URL", path="url")
        if not self._web.knows_host(host_of(url)):
            message = f"Domain '{host_of(url)}' could not be resolved"
            return _error(400, 40001, "ParamValidationError", message, path="url")
        page = self._web.page(url)
        data = self._missing(url) if page is None else self._data(page, request)
        if "application/json" not in request.headers.get("accept", ""):
            return PlainTextResponse(_as_text(data))
        usage = {"tokens": data["usage"]["tokens"]}
        return JSONResponse({"code": 200, "status": 20000, "data": data, "meta": {"usage": usage}})

    def _data(self, page: Page, request: Request) -> dict[str, Any]:
        data: dict[str, Any] = {
            "title": page.title,
            "description": "",
            "url": page.url,
            "content": page.markdown,
            "publishedTime": page.published,
            "usage": {"tokens": _tokens(page.markdown)},
        }
        if request.headers.get("x-with-images-summary", "").lower() in ("true", "all"):
            pictures = self._web.pictures_on(page)
            data["images"] = {
                f"Image {at}: {picture.title}": picture.image_url for at, picture in enumerate(pictures, 1)
            }
        return data

    def _missing(self, url: str) -> dict[str, Any]:
        return {
            "title": "Not Found",
            "description": "",
            "url": url,
            "content": "Not Found",
            "warning": "Target URL returned error 404: Not Found",
            "usage": {"tokens": 2},
        }


def _target(scope: Scope) -> str:
    """The URL behind the slash, as it was sent."""
    path = scope.get("raw_path", scope["path"].encode()).decode().partition("?")[0]
    query = scope["query_string"].decode()
    return f"{path[1:]}?{query}" if query else path[1:]


def _tokens(text: str) -> int:
    """What the reader would bill: about four characters a token."""
    return max(1, len(text) // 4)


def _error(code: int, status: int, name: str, message: str, **more: str) -> JSONResponse:
    body = {
        "data": None,
        **more,
        "code": code,
        "name": name,
        "status": status,
        "message": message,
        "readableMessage": f"{name}: {message}",
    }
    return JSONResponse(body, status_code=code)


def _as_text(data: dict[str, Any]) -> str:
    parts = [f"Title: {data['title']}", f"URL Source: {data['url']}"]
    if "publishedTime" in data:
        parts.append(f"Published Time: {data['publishedTime']}")
    if "warning" in data:
        parts.append(f"Warning: {data['warning']}")
    parts.append(f"Markdown Content:\n{data['content']}")
    return "\n\n".join(parts)
