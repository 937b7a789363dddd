"""Serper: web search, image search, and search by picture (Lens)."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from components.tools.clients.errors import Rejected, ServiceError
from components.tools.clients.http import Requester

BASE = "https://google.serper.dev"

T = TypeVar("T", bound=BaseModel)


class WebRow(BaseModel):
    """A result of a web search."""

    title: str
    link: str
    snippet: str = ""
    date: str | None = None


class ImageRow(BaseModel):
    """A result of an image search."""

    title: str
    imageUrl: str
    link: str
    source: str = ""


class LensRow(BaseModel):
    """A picture that looks like the one searched for."""

    title: str
    link: str
    source: str = ""
    imageUrl: str | None = None


class SerperClient:
    """Searches with one key."""

    def __init__(self, requester: Requester, key: str, base: str = BASE) -> None:
        self._requester = requester
        self._key = key
        self._base = base

    async def search(self, query: str, rows: int = 10) -> list[WebRow]:
        """Web pages, best first; an empty list means that there are none. Raises ServiceError."""
        return await self._rows("search", "/search", {"q": query, "num": rows}, "organic", WebRow)

    async def images(self, query: str, rows: int = 10) -> list[ImageRow]:
        """Pictures by words, best first. Raises ServiceError."""
        return await self._rows("image search", "/images", {"q": query, "num": rows}, "images", ImageRow)

    async def lens(self, picture_url: str) -> list[LensRow]:
        """Pictures by looks, nearest first. Raises ServiceError."""
        return await self._rows("reverse image search", "/lens", {"url": picture_url}, "organic", LensRow)

    async def _rows(self, service: str, path: str, body: dict[str, Any], key: str, kind: type[T]) -> list[T]:
        headers = {"X-API-KEY": self._key}
        response = await self._requester.send(service, "POST", f"{self._base}{path}", headers=headers, json=body)
        answer = response.json_object()
        if response.status != 200:
            message = str(answer.get("message", ""))
            failure = Rejected if "credit" in message.casefold() else ServiceError
            raise failure(service, f"status {response.status}: {message}"[:200])
        rows = answer.get(key, [])
        if not isinstance(rows, list):
            raise ServiceError(service, f"an answer whose {key} is no list")
        return [row for raw in rows if (row := _row(raw, kind)) is not None]


def _row(raw: Any, kind: type[T]) -> T | None:
    """A row, or None for one without title or link: vendors mix other things in."""
    try:
        return kind.model_validate(raw)
    except ValidationError:
        return None
