"""Chat completions of any OpenAI-compatible server: `POST {base}/chat/completions`.

Requests go through the one retry layer (`http.py`). A reply that no one may act on is told from a server that failed:
it raises `Quarantined`, with the reply as it came.
"""

import base64
import io
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from PIL import Image
from pydantic import SecretStr

from components.records.usage import policy_meter
from components.tools.clients.completions import SERVICE, Completion, read_completion, tokens_of
from components.tools.clients.errors import Quarantined, ServiceError
from components.tools.clients.http import Answer, Requester
from components.tools.metering import Tariff

LONGEST_SIDE = 1024
"""Pixels of a picture that a vision model is shown by `picture_part`."""
QUALITY = 95
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NOT_FINITE = "not json compliant"
"""How a server says that a number in its own reply is none; it answers 400 then."""
_KEPT_CHARS = 300


class ChatClient:
    """One model of one server.

    Args:
        requester: sends the requests; its deadline is that of one reply.
        base: address up to and with `/v1`.
        model: as the server calls it.
        key: as `ServiceSettings` holds it; None where the server asks for none.
        limit: what the server calls the bound on a reply.
        tariff: under which the tokens are billed with the tool that asks; None where a policy's turns are counted.
        service: what the server is, in words that a policy may read.
        known_as: the address that a recording knows it by; None for its own.

    """

    def __init__(
        self,
        requester: Requester,
        base: str,
        model: str,
        key: SecretStr | None = None,
        limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens",
        tariff: Tariff | None = None,
        service: str = SERVICE,
        known_as: str | None = None,
    ) -> None:
        self._requester = requester
        self._url = f"{base.rstrip('/')}/chat/completions"
        self._model = model
        self._limit = limit
        self._tariff = tariff
        self._service = service
        self._known_as = known_as
        self._headers: dict[str, str] = {}
        if key is not None:
            requester.keep_secret(key.get_secret_value())
            self._headers["Authorization"] = f"Bearer {key.get_secret_value()}"

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        max_tokens: int,
        temperature: float,
        schema: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] = _NOTHING,
    ) -> Completion:
        """The reply to a conversation.

        Args:
            messages: chat messages; pictures are parts as `picture_part` makes them.
            max_tokens: bound on the reply, the thought included.
            temperature: of sampling.
            schema: JSON schema that the reply's content must follow.
            extra: further fields of the request.

        Raises:
            Quarantined: a reply with numbers that are none, a run of token 0, a call without any call, a reply that
                was cut off, or one in another form.
            Rejected: the server does not take the key.
            ServiceError: there is no reply.

        """
        asked = {
            "model": self._model,
            "messages": [dict(message) for message in messages],
            self._limit: max_tokens,
            "temperature": temperature,
        }
        if schema is not None:
            named = {"name": "answer", "schema": dict(schema), "strict": True}
            asked["response_format"] = {"type": "json_schema", "json_schema": named}
        reply = await self._requester.send(
            self._service,
            "POST",
            self._url,
            headers=self._headers,
            json=asked | dict(extra),
            check=_check,
            tariff=self._tariff,
            known_as=self._known_as,
        )
        return read_completion(reply.content, self._service)


def tool_tariff(model: str) -> Tariff:
    """What a model that looks or reads for a tool is billed with: the tokens that its server counts."""
    return Tariff(
        policy_meter(model),
        0,
        read=lambda answer: tokens_of(answer.content)[0],
        written=lambda answer: tokens_of(answer.content)[1],
    )


def _check(answer: Answer) -> None:
    """Pass over what `read_completion` looks at; raise for a request that the server does not take."""
    if answer.status == 200:
        return
    problem = problem_of(answer.content)
    if _NOT_FINITE in problem.casefold():
        raise Quarantined(answer.service, "numbers that are not finite", answer.content)
    error = ServiceError(answer.service, f"status {answer.status}: {problem}".rstrip(": "))
    error.reply = answer.content
    raise error


def problem_of(body: bytes) -> str:
    """What the server says of it, in either of the forms that servers have; empty when it says nothing."""
    try:
        told = json.loads(body)
    except ValueError:
        return ""
    inner = told.get("error", told) if isinstance(told, dict) else told
    text = inner.get("message", inner.get("detail", "")) if isinstance(inner, dict) else inner
    return " ".join(str(text).split())[:_KEPT_CHARS]


def picture_part(picture: Image.Image | bytes) -> dict[str, Any]:
    """A picture for a vision model, as a part of a message: JPEG, at most `LONGEST_SIDE` long."""
    image = Image.open(io.BytesIO(picture)) if isinstance(picture, bytes) else picture
    shown = image.convert("RGB")
    shown.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    shown.save(buffer, format="JPEG", quality=QUALITY)
    return _part("image/jpeg", buffer.getvalue())


def png_part(png: bytes) -> dict[str, Any]:
    """A PNG as it is, as a part of a message."""
    return _part("image/png", png)


def _part(media_type: str, data: bytes) -> dict[str, Any]:
    url = f"data:{media_type};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}
