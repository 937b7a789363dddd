"""Serper: `POST google.serper.dev/search`, `/images` and `/lens` with an `X-API-KEY` header."""

import json
from datetime import date
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, Router

from components.records.web import Page, WebPicture
from components.world.image_features import features
from components.world.image_index import Match
from components.world.search_index import snippet
from components.world.vendors.uploads import UploadShelf
from components.world.web import REACH, Web, host_of

HOST = "google.serper.dev"
_LENS_ROWS = 10
_MOST_ROWS = 100


class SerperError(Exception):
    """An answer other than 200, in Serper's own words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.response = JSONResponse({"message": message, "statusCode": status}, status_code=status)


class Serper:
    """Answers searches over one web."""

    def __init__(self, web: Web, uploads: UploadShelf) -> None:
        self._web = web
        self._uploads = uploads
        # A picture looks like the same others whoever asks; the key is its hash.
        self._matches = lru_cache(maxsize=2048)(self._matches_of)

    def router(self) -> Router:
        """The routes of this host."""
        return Router(
            [
                Route("/search", self.search, methods=["POST"]),
                Route("/images", self.images, methods=["POST"]),
                Route("/lens", self.lens, methods=["POST"]),
            ]
        )

    async def search(self, request: Request) -> JSONResponse:
        """Web search."""
        try:
            body = await _body(request, "q")
            rows = self._web.text.search(body["q"], _rows(body))
        except SerperError as error:
            return error.response
        organic = [_organic(self._web.pages[row], body["q"], at) for at, row in enumerate(rows, 1)]
        return JSONResponse({"searchParameters": _parameters(body, "search"), "organic": organic, "credits": 1})

    async def images(self, request: Request) -> JSONResponse:
        """Image search by words."""
        try:
            body = await _body(request, "q")
            rows = self._web.captions.search(body["q"], _rows(body))
        except SerperError as error:
            return error.response
        images = [_image(self._web.pictures[row], at) for at, row in enumerate(rows, 1)]
        return JSONResponse({"searchParameters": _parameters(body, "images"), "images": images, "credits": 1})

    async def lens(self, request: Request) -> JSONResponse:
        """Search by a picture at a URL: visual matches, nearest first."""
        try:
            body = await _body(request, "url")
            matches = self._like(body["url"])
        except SerperError as error:
            return error.response
        organic = [self._visual_match(self._web.pictures[match.position]) for match in matches]
        return JSONResponse({"searchParameters": _parameters(body, "lens"), "organic": organic, "credits": 3})

    def _like(self, url: str) -> list[Match]:
        found = self._web.picture(url)
        digest = found.sha256 if found else self._uploads.digest(url)
        if digest is None:
            raise SerperError(400, "Could not fetch the image.")
        try:
            return self._matches(digest)
        except (OSError, ValueError) as error:
            raise SerperError(400, "Could not read the image.") from error

    def _matches_of(self, digest: str) -> list[Match]:
        query = features(self._uploads.read(digest) or self._web.read(digest))
        return self._web.looks.search(query, _LENS_ROWS, REACH)

    def _visual_match(self, picture: WebPicture) -> dict[str, Any]:
        page = self._web.page_of(picture)
        return {
            "title": page.title if page else picture.title,
            "source": host_of(picture.page_url),
            "link": picture.page_url,
            "imageUrl": picture.image_url,
            "thumbnailUrl": picture.image_url,
        }


async def _body(request: Request, required: str) -> dict[str, Any]:
    """The JSON body; raises SerperError as Serper would answer."""
    if not request.headers.get("x-api-key"):
        raise SerperError(403, "Unauthorized.")
    try:
        body = json.loads(await request.body())
    except ValueError as error:
        raise SerperError(400, "Invalid JSON.") from error
    if not isinstance(body, dict) or not isinstance(body.get(required), str) or not body[required].strip():
        raise SerperError(400, f"Missing {required} parameter")
    return body


def _rows(body: dict[str, Any]) -> int:
    number = body.get("num", 10)
    if not isinstance(number, int) or not 1 <= number <= _MOST_ROWS:
        raise SerperError(400, "Invalid num parameter")
    return number


def _parameters(body: dict[str, Any], kind: str) -> dict[str, Any]:
    return {**body, "type": kind, "engine": "google"}


def _organic(page: Page, query: str, position: int) -> dict[str, Any]:
    published = date.fromisoformat(page.published)
    return {
        "title": page.title,
        "link": page.url,
        "snippet": snippet(page.markdown, query),
        "date": f"{published:%b} {published.day}, {published.year}",
        "position": position,
    }


def _image(picture: WebPicture, position: int) -> dict[str, Any]:
    return {
        "title": picture.title,
        "imageUrl": picture.image_url,
        "imageWidth": picture.width,
        "imageHeight": picture.height,
        "thumbnailUrl": picture.image_url,
        "thumbnailWidth": picture.width,
        "thumbnailHeight": picture.height,
        "source": host_of(picture.page_url),
        "domain": host_of(picture.page_url),
        "link": picture.page_url,
        "googleUrl": f"https://www.google.com/imgres?imgurl={picture.image_url}&imgrefurl={picture.page_url}",
        "position": position,
    }
