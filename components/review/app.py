"""The review page as a Starlette application.

Everything of one person lies under `/<queue>/<name>/`, and so does their cookie: two reviewers in one browser are two
people. The page itself holds nothing; every answer with something in it needs that person's token. The token comes in
the fragment of a link, which no browser sends anywhere, then once in a header, and from then on in the cookie.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from components.records.image_bank import ImageBank
from components.review.decisions import DecisionConflict, DecisionInvalid, Draft, NotVisible, Queue
from components.review.desk import Desk
from components.review.panel import Gate, Person
from components.review.render import item_json
from components.review.security import SafeHeaders

COOKIE = "eviflow_review"
COOKIE_SECONDS = 90 * 24 * 3600
MAX_BODY = 65_536
"""Bytes of a decision; its fields have limits of their own."""

PACKAGE = "components.review"
"""Where the page's files lie."""


class ReviewApp:
    """The page and its answers for one queue.

    Args:
        queue: what is reviewed.
        desk: the decisions.
        gate: the tokens.
        bank: where all pictures are found.

    """

    def __init__(self, queue: Queue, desk: Desk, gate: Gate, bank: ImageBank) -> None:
        self._queue, self._desk, self._gate, self._bank = queue, desk, gate, bank

    def build(self) -> Starlette:
        """The application."""
        own = f"/{self._queue.value}/{{name}}"
        item = f"{own}/api/items/{{item_id}}"
        return Starlette(
            routes=[
                Route(f"{own}/", _page),
                Route(f"{own}/api/session", self._sign_in, methods=["POST"]),
                Route(f"{own}/api/queue", self._list),
                Route(item, self._item),
                Route(f"{item}/decision", self._decide, methods=["POST"]),
                Route(f"{item}/pictures/{{sha256}}", self._picture),
                Mount("/static", StaticFiles(packages=[(PACKAGE, "static")])),
            ],
            middleware=[Middleware(SafeHeaders)],
            exception_handlers={
                HTTPException: _said(lambda error: error.status_code),
                NotVisible: _said(lambda _: HTTPStatus.NOT_FOUND),
                DecisionConflict: _said(lambda _: HTTPStatus.CONFLICT),
                DecisionInvalid: _said(lambda _: HTTPStatus.UNPROCESSABLE_ENTITY),
            },
        )

    async def _sign_in(self, request: Request) -> Response:
        person = self._person(request)
        response = JSONResponse({"name": person.name, "role": person.role.value, "queue": self._queue.value})
        response.set_cookie(
            COOKIE,
            _token(request),
            max_age=COOKIE_SECONDS,
            path=f"/{self._queue.value}/{person.name}/",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    async def _list(self, request: Request) -> Response:
        person = self._person(request)
        rows = [
            {"item_id": row.item_id, "title": row.title, "choice": row.choice.value if row.choice else None}
            for row in self._desk.queue(person)
        ]
        return JSONResponse({"name": person.name, "role": person.role.value, "queue": self._queue.value, "items": rows})

    async def _item(self, request: Request) -> Response:
        person = self._person(request)
        return JSONResponse(item_json(self._desk.view(person, request.path_params["item_id"])))

    async def _decide(self, request: Request) -> Response:
        person = self._person(request)
        draft = await _draft(request)
        # In a thread: writing waits for the disk, and other reviewers should not wait with it.
        decision = await run_in_threadpool(self._desk.decide, person, request.path_params["item_id"], draft)
        return JSONResponse({"revision": decision.revision, "choice": decision.choice.value}, HTTPStatus.CREATED)

    async def _picture(self, request: Request) -> Response:
        sight = self._desk.view(self._person(request), request.path_params["item_id"])
        digest = request.path_params["sha256"]
        if digest not in sight.item.pictures or digest not in self._bank:
            raise HTTPException(HTTPStatus.NOT_FOUND, "the item shows no such picture")
        data = await run_in_threadpool(self._bank.read, digest)
        return Response(data, media_type="image/png", headers={"Cache-Control": "private, max-age=86400, immutable"})

    def _person(self, request: Request) -> Person:
        """Who asks.

        Raises:
            HTTPException: 401, nobody of that name with that token.

        """
        person = self._gate.admit(request.path_params["name"], _token(request))
        if person is None:
            raise HTTPException(
                HTTPStatus.UNAUTHORIZED,
                "this link is not valid, or no longer; ask whoever runs the review for a new one",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return person


async def _page(request: Request) -> Response:
    return HTMLResponse(files(PACKAGE).joinpath("static/page.html").read_text("utf-8"))


def _token(request: Request) -> str:
    """The token of a request; a header counts before the cookie. "" when there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else request.cookies.get(COOKIE, "")


async def _draft(request: Request) -> Draft:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a decision is sent as application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a decision has at most {MAX_BODY} bytes")
    try:
        return Draft.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise DecisionInvalid(f"{place or 'the decision'}: {first['msg']}") from None


def _said(status: Callable[[Any], int]) -> Callable[[Request, Exception], Awaitable[Response]]:
    """A handler that answers an error with its sentence."""

    async def answer(request: Request, error: Exception) -> Response:
        sentence = error.detail if isinstance(error, HTTPException) else str(error)
        headers = error.headers if isinstance(error, HTTPException) else None
        return JSONResponse({"error": sentence}, status(error), headers=headers)

    return answer
