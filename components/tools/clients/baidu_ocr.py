"""Baidu OCR: the printed lines of a picture, with their places.

`POST aip.baidubce.com/oauth/2.0/token` exchanges key and secret for an access token that lasts 30 days; then
`/rest/2.0/ocr/v1/general` or `/accurate` takes a form with the picture in base64. Failures of the reader come with
status 200, an `error_code` and an `error_msg`.
"""

import asyncio
import base64
import time
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from components.records.usage import Meter
from components.tools.clients.errors import Overloaded, Rejected, ServiceError
from components.tools.clients.http import Answer, Requester
from components.tools.metering import Tariff, counted

BASE = "https://aip.baidubce.com"
TOKEN_PATH = "/oauth/2.0/token"
SERVICE = "text recognition"

_BUSY = frozenset({1, 2, 4, 18, 282000, 282102, 282103})
"""Error codes that pass: unknown error, out of service for now, too many requests (a second), internal errors."""
_NO_ACCESS = frozenset({6, 13, 14, 15, 17, 19, 100})
"""Error codes of keys without access, and of quotas that are used up (of the day: 17, in all: 19)."""
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


class _Place(BaseModel):
    left: int
    top: int
    width: int
    height: int


class _Probability(BaseModel):
    average: float = 1.0


class _Word(BaseModel):
    words: str
    location: _Place
    probability: _Probability = _Probability()


class _Result(BaseModel):
    words_result: list[_Word]


class _Refusal(BaseModel):
    error_code: int
    error_msg: str = ""


class _Token(BaseModel):
    access_token: str = Field(min_length=1, repr=False)
    expires_in: float = 0.0
    """Seconds."""


class BaiduOcrClient:
    """Reads text with one key and secret; keeps its access token.

    Args:
        requester: sends the requests.
        key: the application's.
        secret: the application's.
        base: address of the vendor.
        model: which of the two readers.

    """

    def __init__(
        self,
        requester: Requester,
        key: str,
        secret: str,
        base: str = BASE,
        model: Literal["general", "accurate"] = "general",
    ) -> None:
        self._requester = requester
        self._credentials = {"grant_type": "client_credentials", "client_id": key, "client_secret": secret}
        self._base = base.rstrip("/")
        self._path = f"/rest/2.0/ocr/v1/{model}"
        self._tariff = Tariff(Meter.BAIDU_GENERAL if model == "general" else Meter.BAIDU_ACCURATE, 1, shared=True)
        self._token: str | None = None
        self._expires = 0.0
        self._refreshing = asyncio.Lock()
        self._slots = asyncio.Semaphore(_IN_FLIGHT)

    async def read(self, picture: bytes) -> list[PrintedLine]:
        """The lines of an encoded picture, in the service's order; empty when there is no text. Raises ServiceError."""
        async with self._slots:
            answer = await self._answer(picture)
        try:
            words = _Result.model_validate_json(answer.content).words_result
        except ValidationError as error:
            raise ServiceError(
                SERVICE, "an answer without words_result, or a line without words or location"
            ) from error
        return [
            PrintedLine(text=word.words, confidence=word.probability.average, **word.location.model_dump())
            for word in words
        ]

    async def _answer(self, picture: bytes) -> Answer:
        """An answer that is no failure; a token that has run out is exchanged once, and the call repeated once."""
        with counted(self._tariff) as call:
            token = await self._access_token()
            try:
                answer = await self._ask(picture, token)
            except _Stale:
                answer = await self._ask(picture, await self._access_token(stale=token))
            call.units = 1
            return answer

    async def _ask(self, picture: bytes, token: str) -> Answer:
        return await self._requester.send(
            SERVICE,
            "POST",
            f"{self._base}{self._path}",
            params={"access_token": token},
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            content=_form(picture),
            check=_check,
            known_as=f"{BASE}{self._path}",
            tariff=self._tariff,
        )

    async def _access_token(self, stale: str | None = None) -> str:
        """The token, asked for anew when it has run out or is `stale`."""
        async with self._refreshing:
            if self._token is None or self._token == stale or time.monotonic() > self._expires:
                await self._refresh()
            assert self._token is not None
            return self._token

    async def _refresh(self) -> None:
        response = await self._requester.send(
            SERVICE,
            "POST",
            f"{self._base}{TOKEN_PATH}",
            params=self._credentials,
            check=_check_token,
            known_as=f"{BASE}{TOKEN_PATH}",
        )
        token = _token(response)
        self._requester.keep_secret(token.access_token)
        self._token = token.access_token
        self._expires = time.monotonic() + token.expires_in - _MARGIN_S


class _Stale(Rejected):
    """The access token is no longer good."""


def _check_token(answer: Answer) -> None:
    _token(answer)


def _token(answer: Answer) -> _Token:
    try:
        return _Token.model_validate_json(answer.content)
    except ValidationError:
        # The cause is left out: it would show the token.
        problem = answer.json_object().get("error_description", "")
        raise Rejected(SERVICE, f"no access token: {problem}"[:200].rstrip(": ")) from None


def _form(picture: bytes) -> bytes:
    """The form by hand: base64 has three characters to escape, and a general encoder takes milliseconds for them."""
    encoded = base64.b64encode(picture).replace(b"+", b"%2B").replace(b"/", b"%2F").replace(b"=", b"%3D")
    return b"probability=true&image=" + encoded


def _check(answer: Answer) -> None:
    body = answer.json_object()
    if "error_code" not in body:
        if answer.status != 200:
            raise ServiceError(SERVICE, f"status {answer.status}")
        return
    try:
        refusal = _Refusal.model_validate(body)
    except ValidationError as error:
        raise ServiceError(SERVICE, "an error without a code") from error
    reason = f"error {refusal.error_code}: {refusal.error_msg}"[:200]
    if refusal.error_code in _BUSY:
        raise Overloaded(SERVICE, reason)
    if refusal.error_code in _STALE_TOKEN:
        raise _Stale(SERVICE, reason)
    raise (Rejected if refusal.error_code in _NO_ACCESS else ServiceError)(SERVICE, reason)
