"""Serper: web search, image search, and search by picture (Lens).

`POST google.serper.dev/search`, `/images` or `/lens` with a JSON body and the key in `X-API-KEY`. An answer echoes the
request under `searchParameters` and has its rows under `organic` or `images`, an empty list when there are none.
Failures come as `{"message", "statusCode"}`: 403 for a key that is none, 400 for a key without credit.
"""

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from components.records.usage import Meter
from components.tools.clients.errors import Rejected, ServiceError
from components.tools.clients.http import Answer, Requester
from components.tools.metering import Tariff

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


@dataclass(frozen=True)
class _Kind(Generic[T]):
    """One of the three searches."""

    service: str
    path: str
    key: str
    """Where its rows are."""
    row: type[T]
    credits: int = 1
    """What an answer takes that does not say."""

    @property
    def tariff(self) -> Tariff:
        """Credits, as an answer says."""
        return Tariff(Meter.SERPER_CREDITS, self.credits, _credits)

    def check(self, answer: Answer) -> None:
        """Raise ServiceError as `rows` does."""
        self.rows(answer)

    def rows(self, answer: Answer) -> list[T]:
        """The rows of an answer; raises ServiceError for one that is a failure, or holds none that can be read."""
        body = answer.json_object()
        raw = body.get(self.key)
        if answer.status != 200 or not isinstance(raw, list):
            message = str(body.get("message", ""))[:200]
            failure = Rejected if "credit" in message.casefold() else ServiceError
            what = f"status {answer.status}: {message}" if answer.status != 200 else f"no {self.key}: {message}"
            raise failure(self.service, what.rstrip(": "))
        found = [row for item in raw if (row := _row(item, self.row)) is not None]
        if raw and not found:
            raise ServiceError(self.service, f"none of {len(raw)} {self.key} has a title and a link")
        return found


def _credits(answer: Answer) -> int | None:
    told = answer.json_object().get("credits")
    return told if isinstance(told, int) and told >= 0 else None


_WEB = _Kind(service="search", path="/search", key="organic", row=WebRow)
_IMAGES = _Kind(service="image search", path="/images", key="images", row=ImageRow)
_LENS = _Kind(service="reverse image search", path="/lens", key="organic", row=LensRow, credits=3)


class Place(NamedTuple):
    """Where to search; what is empty is left to the vendor."""

    country: str = ""
    """Two letters."""
    language: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """As the vendor calls them."""
        return {name: value for name, value in (("gl", self.country), ("hl", self.language)) if value}


_ANYWHERE = Place()


class SerperClient:
    """Searches with one key."""

    def __init__(self, requester: Requester, key: str, base: str = BASE) -> None:
        self._requester = requester
        self._key = key
        self._base = base.rstrip("/")

    async def search(self, query: str, rows: int = 10, place: Place = _ANYWHERE) -> list[WebRow]:
        """Web pages, best first; an empty list means that there are none. Raises ServiceError.

        Args:
            query: words.
            rows: most results.
            place: where to search.

        """
        return await self._rows(_WEB, {"q": query, "num": rows, **place.fields})

    async def images(self, query: str, rows: int = 10, place: Place = _ANYWHERE) -> list[ImageRow]:
        """Pictures by words, best first; arguments as for `search`. Raises ServiceError."""
        return await self._rows(_IMAGES, {"q": query, "num": rows, **place.fields})

    async def lens(self, picture_url: str) -> list[LensRow]:
        """Pictures by looks, nearest first. Raises ServiceError."""
        return await self._rows(_LENS, {"url": picture_url})

    async def _rows(self, kind: _Kind[T], body: dict[str, Any]) -> list[T]:
        answer = await self._requester.send(
            kind.service,
            "POST",
            f"{self._base}{kind.path}",
            headers={"X-API-KEY": self._key},
            json=body,
            check=kind.check,
            known_as=f"{BASE}{kind.path}",
            tariff=kind.tariff,
        )
        return kind.rows(answer)


def _row(raw: Any, kind: type[T]) -> T | None:
    """A row, or None for one without title or link: vendors mix other things in."""
    try:
        return kind.model_validate(raw)
    except ValidationError:
        return None
