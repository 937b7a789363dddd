"""Fetching a page from its own server, under limits; what comes back is bytes, and nothing has looked into them."""

import asyncio
import re
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Self

import httpx

from components.tools.clients.addresses import SERVICE, check_url
from components.tools.clients.errors import OffLimits, ServiceError
from components.tools.clients.http import ATTEMPTS, attributed, check_load, persistently
from components.tools.clients.unpack import ACCEPTED, Body

READABLE = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
"""Media types that hold a page; the body of any other is not read."""

_HEADERS = {
    "User-Agent": "EviFlow/0.1 (page reader)",
    "Accept": "text/html, application/xhtml+xml, text/plain;q=0.8",
    "Accept-Encoding": ACCEPTED,
}
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)

_LONGEST_KIND = 300
"""Characters of a Content-Type that are looked at."""


@dataclass(frozen=True)
class FetchLimits:
    """What one page may cost."""

    timeout_s: float = 20.0
    """Deadline of one attempt, redirects and body included."""
    redirects: int = 5
    header_bytes: int = 32 * 2**10
    body_bytes: int = 8 * 2**20
    """After unpacking."""


@dataclass(frozen=True)
class Fetched:
    """What a server answered."""

    url: str
    """Where it came from, after redirects."""
    status: int
    media_type: str
    """In lower case, without parameters; `text/html` when the server does not say."""
    charset: str
    """As the server names it; empty when it does not."""
    body: bytes
    """Empty for a media type that is not read."""


class PageFetcher:
    """Fetches pages; closing it closes every connection.

    Args:
        transport: who answers: a GuardedTransport for the network, or the closed world.
        limits: of one page.

    """

    def __init__(self, transport: httpx.AsyncBaseTransport, limits: FetchLimits | None = None) -> None:
        self._limits = limits or FetchLimits()
        self._http = httpx.AsyncClient(
            transport=transport,
            timeout=httpx.Timeout(self._limits.timeout_s),
            follow_redirects=True,
            max_redirects=self._limits.redirects,
            headers=_HEADERS,
            # One investigation must not be recognised in the next.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        """Enter; nothing is connected before the first page."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def fetch(self, url: str) -> Fetched:
        """The answer to a request for `url`, whatever its status below 500, except 429.

        Raises:
            OffLimits: the address, or one it leads to, is none of the public web.
            NotThere: there is no such host.
            ServiceError: no answer in time, or one beyond the limits.

        """
        try:
            request = self._http.build_request("GET", url)
        except (httpx.InvalidURL, UnicodeError, ValueError) as error:
            raise OffLimits("an address that cannot be read") from error
        check_url(request.url)
        return await persistently(lambda: self._fetch_once(request), ATTEMPTS * self._limits.timeout_s)

    async def _fetch_once(self, request: httpx.Request) -> Fetched:
        # A redirect that names no address is a UnicodeError or ValueError.
        with attributed(SERVICE, f"no page within {self._limits.timeout_s:g} s", UnicodeError, ValueError):
            async with asyncio.timeout(self._limits.timeout_s):
                response = await self._http.send(request, stream=True)
                try:
                    return await self._read(response)
                finally:
                    await response.aclose()

    async def _read(self, response: httpx.Response) -> Fetched:
        check_load(SERVICE, response)
        self._check_headers(response)
        kind = response.headers.get("content-type", "")[:_LONGEST_KIND]
        media_type = kind.partition(";")[0].strip().lower() or "text/html"
        charset = _CHARSET.search(kind)
        wanted = response.status_code == 200 and media_type in READABLE
        body = await self._body(response) if wanted else b""
        return Fetched(str(response.url), response.status_code, media_type, charset[1] if charset else "", body)

    def _check_headers(self, response: httpx.Response) -> None:
        if sum(len(name) + len(value) for name, value in response.headers.raw) > self._limits.header_bytes:
            raise ServiceError(SERVICE, f"headers of more than {self._limits.header_bytes} bytes")
        declared = response.headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > self._limits.body_bytes:
            raise ServiceError(SERVICE, f"a body of more than {self._limits.body_bytes} bytes")

    async def _body(self, response: httpx.Response) -> bytes:
        body = Body(SERVICE, response.headers.get("content-encoding", ""), self._limits.body_bytes)
        async for chunk in response.aiter_raw():
            body.add(chunk)
        return body.taken()
