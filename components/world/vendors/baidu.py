"""Baidu OCR: a token from `/oauth/2.0/token`, then `/rest/2.0/ocr/v1/general` with a form-encoded base64 picture, or
`/accurate`, which the same engine answers.

Errors of the OCR come with status 200 and an `error_code`, as the vendor sends them.
"""

import asyncio
import base64
import binascii
import random
import secrets
from collections.abc import Callable, Sequence
from typing import Any, Protocol
from urllib.parse import unquote_to_bytes

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, Router

from components.errors import UsageError

HOST = "aip.baidubce.com"
_LIFETIME_S = 2_592_000
_LARGEST = 4 * 2**20
"""Of the base64 text, bytes."""
_TOKENS_KEPT = 1024


class Line(Protocol):
    """A line of text as an OCR engine finds it."""

    @property
    def text(self) -> str:
        """What is printed."""
        ...

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom in pixels."""
        ...

    @property
    def confidence(self) -> float:
        """0..1."""
        ...


Read = Callable[[bytes], Sequence[Line]]
"""Encoded picture to lines in reading order; raises UsageError, ValueError or OSError when it cannot be decoded."""


class BaiduOcr:
    """Answers OCR requests with one engine."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._tokens: dict[str, None] = {}

    def router(self) -> Router:
        """The routes of this host."""
        return Router(
            [
                Route("/oauth/2.0/token", self.token, methods=["GET", "POST"]),
                Route("/rest/2.0/ocr/v1/general", self.general, methods=["POST"]),
                Route("/rest/2.0/ocr/v1/accurate", self.general, methods=["POST"]),
            ]
        )

    async def token(self, request: Request) -> JSONResponse:
        """A new access token for a key and a secret."""
        query = request.query_params
        if query.get("grant_type") != "client_credentials":
            return _refusal("unsupported_grant_type", "The authorization grant type is not supported")
        if not query.get("client_id"):
            return _refusal("invalid_client", "unknown client id")
        if not query.get("client_secret"):
            return _refusal("invalid_client", "Client authentication failed")
        token = f"24.{secrets.token_hex(16)}.{_LIFETIME_S}"
        self._tokens[token] = None
        while len(self._tokens) > _TOKENS_KEPT:
            self._tokens.pop(next(iter(self._tokens)))
        return JSONResponse(
            {
                "access_token": token,
                "refresh_token": f"25.{secrets.token_hex(16)}",
                "expires_in": _LIFETIME_S,
                "scope": "public vis-ocr_ocr brain_all_scope",
                "session_key": secrets.token_hex(16),
                "session_secret": secrets.token_hex(16),
            }
        )

    async def general(self, request: Request) -> JSONResponse:
        """The lines of a picture with their places."""
        if request.query_params.get("access_token") not in self._tokens:
            return _error(110, "Access token invalid or no longer valid")
        form = _parse_form(await request.body())
        encoded = form.get("image", b"")
        if not encoded:
            return _error(216101, "not enough param")
        if len(encoded) > _LARGEST:
            return _error(216202, "image size error")
        try:
            lines = await asyncio.to_thread(self._read, base64.b64decode(encoded, validate=True))
        except (binascii.Error, UsageError, ValueError, OSError):
            return _error(216201, "image format error")
        with_probability = form.get("probability") == b"true"
        result = [_word(line, with_probability) for line in lines]
        return JSONResponse({"log_id": random.getrandbits(62), "words_result_num": len(result), "words_result": result})


def _parse_form(body: bytes) -> dict[str, bytes]:
    """The fields of a form; what base64 escapes is undone first, since a general decoder takes milliseconds for it."""
    fields = {}
    for pair in body.split(b"&"):
        key, _, value = pair.partition(b"=")
        for escaped, plain in ((b"%2B", b"+"), (b"%2F", b"/"), (b"%3D", b"=")):
            value = value.replace(escaped, plain)
        fields[key.decode("ascii", "replace")] = unquote_to_bytes(value) if b"%" in value else value
    return fields


def _word(line: Line, with_probability: bool) -> dict[str, Any]:
    left, top, right, bottom = (round(side) for side in line.box)
    word: dict[str, Any] = {
        "words": line.text,
        "location": {"left": left, "top": top, "width": right - left, "height": bottom - top},
    }
    if with_probability:
        value = round(float(line.confidence), 6)
        word["probability"] = {"average": value, "min": value, "variance": 0.0}
    return word


def _error(code: int, message: str) -> JSONResponse:
    return JSONResponse({"log_id": random.getrandbits(62), "error_code": code, "error_msg": message})


def _refusal(error: str, description: str) -> JSONResponse:
    return JSONResponse({"error": error, "error_description": description}, status_code=401)
