"""Baidu OCR: the printed lines of a picture, with their places."""

import asyncio
import base64
import time
from typing import Any

from pydantic import BaseModel

from components.tools.clients.errors import Overloaded, Rejected, ServiceError
from components.tools.clients.http import Answer, Requester

BASE = "https://aip.baidubce.com"
SERVICE = "text recognition"

_BUSY = frozenset({4, 18, 282000, 282102, 282103})
"""Error codes that pass: too many requests a second, internal errors."""
_NO_ACCESS = frozenset({6, 14, 17, 19, 100})
"""Error codes of keys without access or credit."""
_STALE_TOKEN = frozenset({110, 111})
_MARGIN_S = 60.0
_IN_FLIGHT = 4
"""Pictures sent at once; the others wait here, where no deadline runs, and not at a service that is slow."""


class PrintedLine(BaseModel):
    """One line of text."""

    text: str
    left: int
    """Pixels, as are the others."""
    top: int
    width: int
    height: int
    confidence: float = 1.0


class BaiduOcrClient:
    """Reads text with one key and secret; keeps its access token."""

    def __init__(self, requester: Requester, key: str, secret: str, base: str = BASE) -> None:
        self._requester = requester
        self._credentials = {"grant_type": "client_credentials", "client_id": key, "client_secret": secret}
        self._base = base
        self._token: str | None = None
        self._expires = 0.0
        self._refreshing = asyncio.Lock()
        self._slots = asyncio.Semaphore(_IN_FLIGHT)

    async def read(self, picture: bytes) -> list[PrintedLine]:
        """The lines of an encoded picture, in the service's order; empty when there is no text. Raises ServiceError."""
        async with self._slots:
            answer = await self._answer(picture)
        words = answer.get("words_result")
        if not isinstance(words, list):
            raise ServiceError(SERVICE, "an answer without words_result")
        return [_line(word) for word in words]

    async def _answer(self, picture: bytes) -> dict[str, Any]:
        answer = await self._ask(picture, await self._access_token())
        if answer.get("error_code") in _STALE_TOKEN:
            answer = await self._ask(picture, await self._access_token(stale=self._token))
        code = answer.get("error_code")
        if code is not None:
            failure = Rejected if code in _NO_ACCESS | _STALE_TOKEN else ServiceError
            raise failure(SERVICE, f"error {code}: {answer.get('error_msg', '')}"[:200])
        return answer

    async def _ask(self, picture: bytes, token: str) -> dict[str, Any]:
        response = await self._requester.send(
            SERVICE,
            "POST",
            f"{self._base}/rest/2.0/ocr/v1/general",
            params={"access_token": token},
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            content=_form(picture),
            check=_check,
        )
        return response.json_object()

    async def _access_token(self, stale: str | None = None) -> str:
        """The token, asked for anew when it has run out or is `stale`."""
        async with self._refreshing:
            if self._token is None or self._token == stale or time.monotonic() > self._expires:
                await self._refresh()
            assert self._token is not None
            return self._token

    async def _refresh(self) -> None:
        response = await self._requester.send(
            SERVICE, "POST", f"{self._base}/oauth/2.0/token", params=self._credentials
        )
        answer = response.json_object()
        token = answer.get("access_token")
        if not isinstance(token, str):
            raise Rejected(SERVICE, f"no access token: {answer.get('error_description', '')}"[:200])
        self._token = token
        self._expires = time.monotonic() + float(answer.get("expires_in", 0)) - _MARGIN_S


def _form(picture: bytes) -> bytes:
    """The form by hand: base64 has three characters to escape, and a general encoder takes milliseconds for them."""
    encoded = base64.b64encode(picture).replace(b"+", b"%2B").replace(b"/", b"%2F").replace(b"=", b"%3D")
    return b"probability=true&image=" + encoded


def _check(answer: Answer) -> None:
    code = answer.json_object().get("error_code")
    if code in _BUSY:
        raise Overloaded(SERVICE, f"error {code}")


def _line(word: Any) -> PrintedLine:
    try:
        confidence = word.get("probability", {}).get("average", 1.0)
        return PrintedLine(text=word["words"], confidence=confidence, **word["location"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ServiceError(SERVICE, "a line without words or location") from error
