"""What makes two requests to a service the same: their content, and no key, path or passing address."""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import httpx

from components.records.image_bank import sha256_hex
from components.tools.clients import baidu_ocr
from components.tools.clients.http import Told

_KEPT_HEADERS = ("accept", "x-with-images-summary")
"""Those that change an answer."""
_PICTURE = re.compile(r"([0-9a-f]{64})\.\w+")
_PICTURE_LENGTH = 64
_ASKER: ContextVar[str] = ContextVar("asker", default="")


@contextmanager
def asked_by(asker: str) -> Iterator[None]:
    """Say in whose name the requests inside the block are made: which action of which investigation."""
    token = _ASKER.set(asker)
    try:
        yield
    finally:
        _ASKER.reset(token)


@dataclass(frozen=True)
class Asked:
    """A request as a recording knows it."""

    asker: str
    text: str
    """Everything that makes the request what it is."""
    told: Told
    repeatable: bool
    """Whether one answer serves whoever asks again: not for tokens, and not for what is stored or deleted."""
    is_token: bool

    @cached_property
    def key(self) -> str:
        """SHA-256 of the text."""
        return sha256_hex(self.text.encode())

    @property
    def short(self) -> str:
        """The request in a sentence."""
        return self.text if len(self.text) <= 200 else f"{self.text[:200]}..."


def asked(request: httpx.Request) -> Asked:
    """What a request asks."""
    own = str(request.url)
    told: Told = request.extensions.get("told") or Told("web", own, own, None)
    url = told.known_as if own == told.url else own
    headers = [f"{name}={request.headers[name]}" for name in _KEPT_HEADERS if name in request.headers]
    is_token = url.endswith(baidu_ocr.TOKEN_PATH)
    return Asked(
        asker=_ASKER.get(),
        text=" ".join(part for part in (request.method, url, _body(request), *headers) if part),
        told=told,
        repeatable=request.method in ("GET", "POST") and not is_token,
        is_token=is_token,
    )


def _body(request: httpx.Request) -> str:
    """The body in words: pictures by their hash."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    if not request.content:
        return ""
    if kind == "application/json":
        values = json.loads(request.content)
        return json.dumps({name: _value(value) for name, value in values.items()}, sort_keys=True, ensure_ascii=False)
    if kind == "application/x-www-form-urlencoded":
        pairs = [pair.partition(b"=") for pair in request.content.split(b"&")]
        return json.dumps({name.decode(): _field(value) for name, _, value in sorted(pairs)}, ensure_ascii=False)
    return f"sha256:{sha256_hex(request.content)}"


def _value(value: Any) -> Any:
    """A value of a JSON body; a picture that we laid out, or that stands in the body, is its hash."""
    if isinstance(value, dict):
        return {name: _value(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_value(item) for item in value]
    if not isinstance(value, str):
        return value
    if value.startswith("data:"):
        return f"sha256:{sha256_hex(value.encode())}"
    try:
        found = _PICTURE.fullmatch(urlsplit(value).path.rpartition("/")[2]) if "//" in value else None
    except ValueError:
        # Words with brackets, and no address.
        return value
    return f"sha256:{found[1]}" if found else value


def _field(value: bytes) -> str:
    """A field of a form; a long one is a picture in base64, and its three escapes are undone by hand, which is fast."""
    if len(value) < _PICTURE_LENGTH:
        return value.decode()
    plain = value.replace(b"%2B", b"+").replace(b"%2F", b"/").replace(b"%3D", b"=")
    try:
        return f"sha256:{sha256_hex(base64.b64decode(plain, validate=True))}"
    except binascii.Error:
        return f"sha256:{sha256_hex(value)}"
