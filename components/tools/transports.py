"""Who answers the clients: vendors, a served world, a recording, or one of these while every answer is kept.

The closed world in this process is an application behind httpx's own transport, and the network httpx's own as well.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence

import httpx

from components.tools.clients.errors import NotThere, OffLimits, ServiceError
from components.tools.clients.http import LARGEST_ANSWER, Answer, Told, check_access, check_load, without_secrets
from components.tools.recording import Kept, Recording
from components.tools.request_key import Asked, asked

_KEPT_HEADERS = ("content-type", "location")
_TIMEOUT = "timeout"
_REFUSALS: dict[str, type[Exception]] = {"NotThere": NotThere, "OffLimits": OffLimits}
"""What a guard raises instead of making a connection."""
_TOKEN = {"access_token": "[access token]", "expires_in": 2_592_000}
"""What is kept in the place of an access token; no text that a service answers holds it."""


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


class NetworkTransport(httpx.AsyncBaseTransport):
    """The network, by way of the proxies that the environment names."""

    def __init__(self) -> None:
        self._client = httpx.AsyncClient()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request."""
        return await self._client.send(request, stream=True)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()


class Sent(httpx.AsyncBaseTransport):
    """Stands before whoever answers, and has each request charged before it leaves.

    Args:
        inner: who answers.
        billed: whether it is the vendors, who want money for it.

    """

    def __init__(self, inner: httpx.AsyncBaseTransport, *, billed: bool) -> None:
        self._inner = inner
        self._billed = billed

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request."""
        told: Told | None = request.extensions.get("told")
        if told is None or told.bill is None:
            return await self._inner.handle_async_request(request)
        told.bill.sent(billed=self._billed)
        try:
            return await self._inner.handle_async_request(request)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            told.bill.unsent()
            raise

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()


class RecordTransport(httpx.AsyncBaseTransport):
    """Asks each thing once, and keeps the answer for whoever asks again.

    Args:
        inner: who answers.
        recording: where answers are kept.
        secrets: keys that must not be kept; the list may grow.

    """

    def __init__(self, inner: httpx.AsyncBaseTransport, recording: Recording, secrets: Sequence[str] = ()) -> None:
        self._inner = inner
        self._recording = recording
        self._secrets = secrets
        self._guards: dict[str, asyncio.Lock] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        question = asked(request)
        async with self._guards.setdefault(question.key, asyncio.Lock()):
            kept = self._recording.answer(question.key) if question.repeatable else None
            if kept is None:
                return await self._ask(question, request)
        self._recording.overcome(question.key, question.asker)
        return _response(kept)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()

    async def _ask(self, question: Asked, request: httpx.Request) -> httpx.Response:
        try:
            response = await self._inner.handle_async_request(request)
            try:
                content = await _body(response)
            finally:
                await response.aclose()
        except httpx.TransportError as error:
            self._fail(question, Kept(0, {}, b"", type(error).__name__))
            raise
        except asyncio.CancelledError:
            self._fail(question, Kept(0, {}, b"", _TIMEOUT))
            raise
        except (NotThere, OffLimits) as error:
            self._fail(question, Kept(0, {}, str(error).encode(), type(error).__name__))
            raise
        self._keep(question, response, content)
        headers = {name: response.headers[name] for name in (*_KEPT_HEADERS, "retry-after") if name in response.headers}
        return httpx.Response(response.status_code, headers=headers, content=content)

    def _keep(self, question: Asked, response: httpx.Response, content: bytes) -> None:
        headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
        fails = _fails(question, response, content)
        if question.is_token and not fails:
            content = json.dumps(_TOKEN).encode()
        kept = Kept(response.status_code, headers, without_secrets(content, self._secrets))
        if fails:
            self._fail(question, kept)
            return
        self._recording.keep(question.key, question.text, kept)
        self._recording.overcome(question.key, question.asker)

    def _fail(self, question: Asked, kept: Kept) -> None:
        self._recording.fail(question.key, question.asker, question.text, kept)


class ReplayTransport(httpx.AsyncBaseTransport):
    """Answers from a recording alone; there is no network behind it.

    Args:
        recording: what was kept.

    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._met: Counter[tuple[str, str]] = Counter()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request; raises ServiceError for one that was never recorded."""
        question = asked(request)
        kept = self._failure(question, question.asker) or self._recording.answer(question.key)
        kept = kept or self._failure(question, None)
        if kept is None:
            raise ServiceError(question.told.service, f"the recording has no answer to: {question.short}")
        if kept.fault == _TIMEOUT:
            raise TimeoutError
        if kept.fault in _REFUSALS:
            raise _REFUSALS[kept.fault](kept.body.decode())
        if kept.fault:
            raise getattr(httpx, kept.fault)("as recorded")
        return _response(kept)

    def _failure(self, question: Asked, asker: str | None) -> Kept | None:
        """The next failure that was kept for the asker; the last one stays."""
        failures = self._recording.failures(question.key, asker)
        if not failures:
            return None
        met = self._met[question.key, question.asker]
        self._met[question.key, question.asker] += 1
        return failures[min(met, len(failures) - 1)]


def _response(kept: Kept) -> httpx.Response:
    return httpx.Response(kept.status, headers=kept.headers, content=kept.body)


def _fails(question: Asked, response: httpx.Response, content: bytes) -> bool:
    """Whether whoever asked will take the answer for a failure."""
    told = question.told
    if len(content) > LARGEST_ANSWER:
        return True
    try:
        check_load(told.service, response)
        check_access(told.service, response)
        if told.check is not None and not response.has_redirect_location:
            told.check(Answer(told.service, response.status_code, told.url, content))
    except ServiceError:
        return True
    return False


async def _body(response: httpx.Response) -> bytes:
    """The body; of an endless one, what is enough to see that."""
    chunks, size = [], 0
    async for chunk in response.aiter_bytes():
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_ANSWER:
            break
    return b"".join(chunks)
