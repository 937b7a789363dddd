"""What time it is, asked like everything else: the closed world and a recording have a time of their own.

`GET clock.example/now` answers `{"utc": "2031-03-12T00:00:00Z"}`. In front of the network `ClockTransport` answers it.
"""

from datetime import UTC, datetime
from typing import Any

import httpx

from components.tools.base import CLOCK, Arguments, CaseState, NoArguments, ToolFamily, ToolResult
from components.tools.clients.errors import ServiceError
from components.tools.clients.http import Answer, Requester
from components.tools.failures import attributed

HOST = "clock.example"
URL = f"https://{HOST}/now"
SERVICE = "clock"


class ClockTransport(httpx.AsyncBaseTransport):
    """Tells this machine's time, and leaves every other request to somebody else."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        if request.url.host != HOST:
            return await self.inner.handle_async_request(request)
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return httpx.Response(200, json={"utc": now})

    async def aclose(self) -> None:
        """Close every connection."""
        await self.inner.aclose()


class CurrentTime:
    """The time; a report cannot cite it."""

    name = CLOCK
    description = "Tell the current date and time (UTC). It dates what is found and is no evidence."
    family: ToolFamily | None = None
    limit: int | None = 1
    arguments: type[Arguments] = NoArguments

    def __init__(self, requester: Requester) -> None:
        self._requester = requester

    def refuse(self, arguments: NoArguments, state: CaseState) -> str | None:
        """Never."""
        return None

    def key(self, arguments: NoArguments) -> str | None:
        """Its limit is enough."""
        return None

    async def run(self, arguments: NoArguments, state: CaseState) -> ToolResult:
        """`2031-03-12T00:00:00Z`."""
        with attributed():
            answer = await self._requester.send(SERVICE, "GET", URL, check=_read)
        return ToolResult(_read(answer), {"utc": _read(answer)})


def _read(answer: Answer) -> Any:
    """The time; raises ServiceError for an answer that holds none."""
    try:
        told = answer.json_object()["utc"]
        datetime.fromisoformat(told)
    except (KeyError, TypeError, ValueError) as error:
        raise ServiceError(SERVICE, f"status {answer.status}, and no time") from error
    return told
