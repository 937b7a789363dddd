"""Jina Reader: the readable text of a page."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from components.tools.clients.errors import NotThere, ServiceError
from components.tools.clients.http import Requester

BASE = "https://r.jina.ai"
SERVICE = "page reader"

_MISSING = re.compile(r"Target URL returned error (404|410)\b")
_FAILED = re.compile(r"Target URL returned error (\d{3})\b")


class ReadPage(BaseModel):
    """A page as the reader gives it."""

    url: str
    """Where the text comes from; differs from what was asked for after a redirect."""
    title: str
    content: str
    """Markdown."""
    pictures: tuple[str, ...] = ()
    """URLs of the page's pictures, in page order."""


class JinaClient:
    """Reads pages with one key."""

    def __init__(self, requester: Requester, key: str, base: str = BASE) -> None:
        self._requester = requester
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Accept": "application/json",
            "X-With-Images-Summary": "true",
        }
        self._base = base

    async def read(self, url: str) -> ReadPage:
        """The page at `url`.

        Raises:
            NotThere: there is no such page or host.
            ServiceError: the reader or the page's server gave no answer.

        """
        response = await self._requester.send(SERVICE, "GET", f"{self._base}/{url}", headers=self._headers)
        answer = response.json_object()
        if response.status == 400 and answer.get("name") == "ParamValidationError":
            raise NotThere(str(answer.get("message", ""))[:200])
        data = answer.get("data")
        if response.status != 200 or not isinstance(data, dict):
            raise ServiceError(SERVICE, f"status {response.status}: {answer.get('name', '')}")
        return _page(data, url)


def _page(data: Mapping[str, Any], asked: str) -> ReadPage:
    """Raises as `JinaClient.read` does: the reader answers 200 for a page that its server does not give."""
    warning = str(data.get("warning") or "")
    if _MISSING.search(warning):
        raise NotThere(warning[:200])
    if _FAILED.search(warning):
        raise ServiceError(SERVICE, warning[:200])
    images = data.get("images") or {}
    urls = images.values() if isinstance(images, dict) else [pair[1] for pair in images]
    return ReadPage(
        url=str(data.get("url") or asked),
        title=str(data.get("title") or ""),
        content=str(data.get("content") or ""),
        pictures=tuple(str(url) for url in urls),
    )
