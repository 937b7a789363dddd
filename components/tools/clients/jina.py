"""Jina Reader: the readable text of a page.

`GET r.jina.ai/<url>` with `Accept: application/json` answers `{"code", "status", "data"}`, where `data` has `url`,
`title`, `content` and, when asked for, `images`. A page that its server does not give is answered with 200 and a
`warning` that names the server's status; a host that does not exist with 400. The reader's own failures have a `name`:
401 for a key that is none, 402 without credit, 429 with `Retry-After`, 422 for a page that did not load, 451 for a host
that it does not open.
"""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from components.records.usage import Meter
from components.tools.clients.errors import NotThere, ServiceError
from components.tools.clients.http import Answer, Requester
from components.tools.metering import Tariff

BASE = "https://r.jina.ai"
SERVICE = "page reader"

_MISSING = re.compile(r"Target URL returned error (404|410)\b")
_FAILED = re.compile(r"Target URL returned error (\d{3})\b|requiring CAPTCHA", re.IGNORECASE)
_NO_HOST = re.compile(r"ERR_NAME_NOT_RESOLVED|could not be resolved", re.IGNORECASE)


class ReadPage(BaseModel):
    """A page as the reader gives it."""

    url: str
    """Where the text comes from; differs from what was asked for after a redirect."""
    title: str
    content: str
    """Markdown."""
    pictures: tuple[str, ...] = ()
    """URLs of the page's pictures, in page order."""


class _Data(BaseModel):
    """Of an answer, what is read."""

    content: str
    url: str = ""
    title: str | None = ""
    warning: str | None = ""
    images: dict[str, str] | list[tuple[str, str]] | None = None


def _tokens(answer: Answer) -> int | None:
    """What the reader bills, for a page that is not there as well."""
    data = answer.json_object().get("data")
    usage = data.get("usage") if isinstance(data, dict) else None
    tokens = usage.get("tokens") if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) and tokens >= 0 else None


_TARIFF = Tariff(Meter.JINA_TOKENS, 0, _tokens)
"""A page that never came is free: nobody knows how long it is."""


class JinaClient:
    """Reads pages with one key."""

    def __init__(self, requester: Requester, key: str, base: str = BASE) -> None:
        self._requester = requester
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Accept": "application/json",
            "X-With-Images-Summary": "true",
        }
        self._base = base.rstrip("/")

    async def read(self, url: str) -> ReadPage:
        """The page at `url`.

        Raises:
            NotThere: there is no such page or host.
            ServiceError: the reader or the page's server gave no answer.

        """
        answer = await self._requester.send(
            SERVICE,
            "GET",
            f"{self._base}/{url}",
            headers=self._headers,
            check=_check,
            known_as=f"{BASE}/{url}",
            tariff=_TARIFF,
        )
        return _page(answer, url)


def _check(answer: Answer) -> None:
    """A missing page is an answer; everything else but a page is none."""
    try:
        _page(answer, "")
    except NotThere:
        return


def _page(response: Answer, asked: str) -> ReadPage:
    """Raises as `JinaClient.read` does."""
    answer = response.json_object()
    if response.status != 200 or answer.get("code", 200) != 200:
        raise _failure(response.status, answer)
    try:
        data = _Data.model_validate(answer.get("data"))
    except ValidationError as error:
        raise ServiceError(SERVICE, "an answer without a page") from error
    warning = data.warning or ""
    if _MISSING.search(warning):
        raise NotThere(warning[:200])
    if _FAILED.search(warning):
        raise ServiceError(SERVICE, warning[:200])
    pairs = data.images.items() if isinstance(data.images, dict) else data.images or ()
    return ReadPage(
        url=data.url or asked,
        title=data.title or "",
        content=data.content,
        pictures=tuple(url for _, url in pairs),
    )


def _failure(status: int, answer: Mapping[str, Any]) -> NotThere | ServiceError:
    """What an answer other than 200 means."""
    name, message = str(answer.get("name", "")), str(answer.get("message", ""))[:200]
    no_host = status == 422 and _NO_HOST.search(message)
    if no_host or (status == 400 and name == "ParamValidationError" and answer.get("path", "url") == "url"):
        return NotThere(message)
    return ServiceError(SERVICE, f"status {status}: {name}")
