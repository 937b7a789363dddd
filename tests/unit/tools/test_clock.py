"""The clock before the network, and in a recording."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from components.tools.clients.errors import ServiceError
from components.tools.clients.http import Requester
from components.tools.clock import ClockTransport, CurrentTime
from components.tools.recording import recorded, replayed
from components.tools.transports import RecordTransport, ReplayTransport


def elsewhere(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"host": request.url.host})


def told(transport: httpx.AsyncBaseTransport) -> str:
    async def go() -> str:
        async with Requester(transport, 5) as requester:
            return (await CurrentTime(requester).run(None, None)).text  # type: ignore[arg-type]

    return asyncio.run(go())


def test_before_the_network_it_is_now_and_everything_else_passes() -> None:
    clock = ClockTransport(httpx.MockTransport(elsewhere))
    now = datetime.fromisoformat(told(clock))
    assert abs((datetime.now(UTC) - now).total_seconds()) < 60

    async def other() -> dict[str, str]:
        async with httpx.AsyncClient(transport=clock) as client:
            body: dict[str, str] = (await client.get("https://a.example/now")).json()
            return body

    assert asyncio.run(other()) == {"host": "a.example"}


def test_a_recording_tells_the_time_of_its_making(tmp_path: Path) -> None:
    with recorded(tmp_path) as recording:
        first = told(RecordTransport(ClockTransport(httpx.MockTransport(elsewhere)), recording))
    with replayed(tmp_path) as recording:
        assert told(ReplayTransport(recording)) == first


def test_an_empty_recording_has_no_time(tmp_path: Path) -> None:
    with recorded(tmp_path):
        pass
    with replayed(tmp_path) as recording, pytest.raises(Exception, match="clock") as failed:
        told(ReplayTransport(recording))
    assert isinstance(failed.value.__cause__, ServiceError)
