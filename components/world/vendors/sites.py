"""The world's own hosts: pages as HTML and pictures as PNG, by address."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from components.world.web import Web


class Sites:
    """Every page and picture at its own address; an ASGI application."""

    def __init__(self, web: Web) -> None:
        self._web = web

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.answer(Request(scope, receive))(scope, receive, send)

    def answer(self, request: Request) -> Response:
        """The page or picture at the request's host and path."""
        if request.method not in ("GET", "HEAD"):
            return PlainTextResponse("method not allowed", status_code=405)
        query = f"?{request.url.query}" if request.url.query else ""
        url = f"//{request.headers.get('host', '')}{request.url.path}{query}"
        if page := self._web.page(url):
            return HTMLResponse(page.html)
        if picture := self._web.picture(url):
            return Response(self._web.read(picture.sha256), media_type="image/png")
        return PlainTextResponse("not found", status_code=404)
