"""Who answers the clients: an application in this process, or one on a port that answers for every host."""

import httpx


class PortTransport(httpx.AsyncBaseTransport):
    """Sends every request to one address, and leaves the Host header as the client wrote it.

    Args:
        address: such as `http://127.0.0.1:8900`.

    """

    def __init__(self, address: str) -> None:
        self._address = httpx.URL(address)
        self._inner = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request."""
        # The path stays as it was encoded; `copy_with` would encode it anew.
        target = request.url.copy_with(scheme=self._address.scheme, host=self._address.host, port=self._address.port)
        sent = httpx.Request(
            request.method, target, headers=request.headers, stream=request.stream, extensions=request.extensions
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()
