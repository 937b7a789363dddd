"""The closed world's time: the day after its newest page, so that every investigation of a world has the same."""

from datetime import date, timedelta

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, Router

from components.world.web import Web

HOST = "clock.example"
_WITHOUT_PAGES = "2000-01-01"


class Clock:
    """Stands still."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def router(self) -> Router:
        """The route of this host."""
        return Router([Route("/now", self.now, methods=["GET"])])

    async def now(self, request: Request) -> JSONResponse:
        """Midnight of that day, UTC."""
        newest = max((page.published[:10] for page in self._web.pages if page.published), default=_WITHOUT_PAGES)
        return JSONResponse({"utc": f"{date.fromisoformat(newest) + timedelta(days=1)}T00:00:00Z"})
