"""One HTTP client for every service, with the one retry layer there is.

Tried again are answers 429 and 5xx, and connections that were never made; nothing that may have been carried out, and
never a refused key. `Retry-After` is honoured, unless it asks for more patience than there is. Keys that a service
repeats in its answer are taken out before anybody reads it.
"""

import asyncio
import json as jsonlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
import stamina

from components.config.tools import ATTEMPTS
from components.tools.clients.errors import Overloaded, Rejected, ServiceError
from components.tools.metering import Bill, Tariff, counted

_FIRST_WAIT_S = 0.2
_LONGEST_WAIT_S = 5.0
T = TypeVar("T")

LARGEST_ANSWER = 24 * 2**20
"""Bytes of any answer; more is a failure, so that no service can fill the memory."""
_SHORTEST_SECRET = 8
_QUIET = ("httpx", "httpcore", "boto3", "botocore")
"""They write addresses and headers, keys included, into logs that somebody has turned up."""


@dataclass(frozen=True)
class Answer:
    """What a service answered."""

    service: str
    status: int
    url: str = field(repr=False)
    """Where it came from, after redirects."""
    content: bytes = field(repr=False)

    def json_object(self) -> dict[str, Any]:
        """The body as a JSON object; raises ServiceError when it is none."""
        try:
            body = jsonlib.loads(self.content)
        except ValueError as error:
            raise ServiceError(self.service, "an answer that is no JSON") from error
        if not isinstance(body, dict):
            raise ServiceError(self.service, "an answer that is no JSON object")
        return body


Check = Callable[[Answer], None]
"""Raises a ServiceError for an answer that is a failure in its vendor's own words."""


@dataclass(frozen=True)
class Told:
    """What a transport is told of a request besides the request itself, as its extension `told`."""

    service: str
    url: str
    """Where it goes; after a redirect this is no longer the request's own."""
    known_as: str
    """The address to know it by, which holds no key and is the same wherever the service stands."""
    check: Check | None
    bill: Bill | None = None
    """Is told when the request is sent."""


def without_secrets(data: bytes, secrets: Sequence[str]) -> bytes:
    """The same bytes with every secret replaced."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            data = data.replace(secret.encode(), b"[key]")
    return data


class Requester:
    """Sends requests for all clients of one process; closing it closes every connection.

    Args:
        transport: who answers: the closed world in this process or on a port, or None for the network.
        timeout_s: deadline of one attempt; all attempts together end after `ATTEMPTS` times that.
        secrets: keys that no answer may show; the list may grow.

    """

    def __init__(
        self, transport: httpx.AsyncBaseTransport | None, timeout_s: float, secrets: list[str] | None = None
    ) -> None:
        for name in _QUIET:
            logging.getLogger(name).setLevel(logging.WARNING)
        self._timeout_s = timeout_s
        self._secrets = [] if secrets is None else secrets
        self._http = httpx.AsyncClient(transport=transport, timeout=httpx.Timeout(timeout_s), max_redirects=5)

    async def __aenter__(self) -> Self:
        """Enter; nothing is connected before the first request."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection."""
        await self.close()

    def keep_secret(self, secret: str) -> None:
        """Take `secret` out of every answer from now on."""
        self._secrets.append(secret)

    @property
    def closed(self) -> bool:
        """Whether every connection is closed for good."""
        return self._http.is_closed

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def send(
        self,
        service: str,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        content: bytes | None = None,
        json: Any = None,
        check: Check | None = None,
        known_as: str | None = None,
        redirects: bool = False,
        tariff: Tariff | None = None,
    ) -> Answer:
        """The answer to a request, whatever its status below 500, except 401, 402, 403 and 429.

        Args:
            service: what is asked, in words that a policy may read.
            method: HTTP's.
            url: where to.
            headers: may hold keys, as may `params`.
            params: of the URL.
            content: the body, or
            json: the body.
            check: raises for an answer that is a failure though its status is none.
            known_as: the address that a recording knows the request by; None for `url`, which then holds no key.
            redirects: whether to follow them. A service that takes a key is not followed with it to another address.
            tariff: what the service bills; None for what is free.

        Raises:
            ServiceError: no answer in time, or one that is a failure.

        """

        async def attempt() -> Answer:
            request = self._http.build_request(
                method, url, headers=dict(headers or {}), params=dict(params or {}) or None, content=content, json=json
            )
            with Bill(tariff) as bill:
                request.extensions["told"] = Told(service, str(request.url), known_as or url, check, bill)
                answer = await self._send_once(service, request, redirects, bill)
                if check is not None:
                    check(answer)
                bill.settle(answer)
            return answer

        limit = ATTEMPTS * self._timeout_s
        with counted(None if tariff is None or tariff.shared else tariff) as call:
            try:
                async with asyncio.timeout(limit):
                    answer = await persistently(attempt, limit)
            except TimeoutError as error:
                raise ServiceError(service, f"no answer within {limit:g} s") from error
            if tariff is not None:
                call.units, call.output_units = tariff.units(answer), tariff.output_units(answer)
            return answer

    async def _send_once(self, service: str, request: httpx.Request, redirects: bool, bill: Bill) -> Answer:
        with attributed(service, f"no answer within {self._timeout_s:g} s"):
            async with asyncio.timeout(self._timeout_s):
                response = await self._http.send(request, stream=True, follow_redirects=redirects)
                try:
                    content = await _read(service, response)
                finally:
                    await response.aclose()
        bill.answered = True
        content = without_secrets(content, self._secrets)
        try:
            check_load(service, response)
            check_access(service, response)
        except ServiceError as error:
            error.reply = content
            raise
        return Answer(service, response.status_code, str(response.url), content)


@contextmanager
def attributed(service: str, late: str, *unreadable: type[Exception]) -> Iterator[None]:
    """Blame a service for what goes wrong with its connection inside the block.

    Args:
        service: whom.
        late: what to say when time ran out.
        unreadable: what else is the service's fault, besides httpx's errors.

    Raises:
        Overloaded: there was no connection, so nothing was carried out.
        ServiceError: anything else.

    """
    broken: tuple[type[Exception], ...] = (httpx.HTTPError, httpx.InvalidURL, *unreadable)
    try:
        yield
    except TimeoutError as error:
        raise ServiceError(service, late) from error
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise Overloaded(service, f"no connection ({type(error).__name__})") from error
    except broken as error:
        raise ServiceError(service, type(error).__name__) from error


async def persistently(attempt: Callable[[], Awaitable[T]], limit: float) -> T:
    """What an attempt gives: one that raises Overloaded is made again, up to `ATTEMPTS` times within `limit` seconds.

    Raises:
        ServiceError: what the last attempt raised, or any attempt that is not worth repeating.

    """
    async for retry in stamina.retry_context(
        on=lambda error: _pause(error, limit),
        attempts=ATTEMPTS,
        timeout=limit,
        wait_initial=_FIRST_WAIT_S,
        wait_max=_LONGEST_WAIT_S,
        wait_jitter=_FIRST_WAIT_S,
    ):
        with retry:
            return await attempt()
    raise AssertionError("the last attempt either returns or raises")


async def _read(service: str, response: httpx.Response) -> bytes:
    """The body, up to the limit."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > LARGEST_ANSWER:
            raise ServiceError(service, f"an answer of more than {LARGEST_ANSWER} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def check_load(service: str, response: httpx.Response) -> None:
    """Raise Overloaded for an answer that asks to come back later, or that tells of a broken server."""
    status = response.status_code
    if status == 429 or status >= 500:
        raise Overloaded(service, f"status {status}", _retry_after(response))


def check_access(service: str, response: httpx.Response) -> None:
    """Raise Rejected for an answer that refuses the key."""
    if response.status_code in (401, 402, 403):
        raise Rejected(service, f"status {response.status_code}")


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds to wait as the service asks, in either of the header's two forms."""
    value = response.headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _pause(error: Exception, limit: float) -> bool | float:
    """Whether to try again, and after how long when the service says so."""
    if not isinstance(error, Overloaded):
        return False
    if error.wait_s is None:
        return True
    # A pause of nought would read as "do not".
    return max(error.wait_s, 0.001) if error.wait_s < limit else False
