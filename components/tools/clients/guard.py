"""A transport that connects to the public web alone, whatever addresses, redirects and name servers say.

Every request passes through it, also one that follows a redirect. The connection goes to the very address that was
checked, so that a name cannot mean one thing when it is checked and another when it is used; Host header, server name
(SNI) and certificate stay those of the name.
"""

from collections.abc import Collection
from contextlib import suppress

import httpx

from components.tools.clients.addresses import Resolve, check_url, is_public, resolve
from components.tools.clients.errors import NotThere, OffLimits

WEB_PORTS = frozenset({80, 443})
_TRIED = 3
"""Addresses of one host that are tried."""


class GuardedTransport(httpx.AsyncBaseTransport):
    """Checks, pins and sends; closing it closes every connection.

    Args:
        inner: makes the connections. It must not keep them: two hosts at one address must not share one, whose
            certificate was checked for the other host.
        resolve: gives the addresses of a host.
        ports: that may be connected to.
        allowed: pairs of address and port that may be connected to all the same, for tests on loopback.

    """

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport | None = None,
        *,
        resolve: Resolve = resolve,
        ports: Collection[int] = WEB_PORTS,
        allowed: Collection[tuple[str, int]] = frozenset(),
    ) -> None:
        limits = httpx.Limits(max_keepalive_connections=0)
        self._inner = inner or httpx.AsyncHTTPTransport(limits=limits, trust_env=False)
        self._resolve = resolve
        self._ports = frozenset(ports)
        self._allowed = frozenset(allowed)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request.

        Raises:
            OffLimits: the address is none of the public web.
            NotThere: there is no such host.
            Overloaded: the name service gave no answer.

        """
        check_url(request.url)
        port = request.url.port or {"http": 80, "https": 443}[request.url.scheme]
        addresses = await self._checked(request.url.host, port)
        for address in addresses[:-1]:
            with suppress(httpx.ConnectError, httpx.ConnectTimeout):
                return await self._inner.handle_async_request(_pinned(request, address))
        return await self._inner.handle_async_request(_pinned(request, addresses[-1]))

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()

    async def _checked(self, host: str, port: int) -> list[str]:
        """The addresses of a host; one that is not public refuses them all."""
        addresses = await self._resolve(host, port)
        if not addresses:
            raise NotThere(f"there is no host {host[:100]}")
        for address in addresses:
            if (address, port) in self._allowed:
                continue
            if not is_public(address):
                raise OffLimits(f"{host[:100]} is not on the public web")
            if port not in self._ports:
                raise OffLimits(f"port {port} is not opened")
        return addresses[:_TRIED]


def _pinned(request: httpx.Request, address: str) -> httpx.Request:
    """The same request to an address instead of a name; the Host header was set from the name and stays."""
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
