"""What is asked of a vision-language model, and what its reply is: pictures in, checked results out."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar

from PIL import Image, ImageDraw
from pydantic import ValidationError

from components.tools.boxes import with_shares
from components.tools.clients.errors import ServiceError
from components.tools.findings import Finding

SERVICE = "vision model"
_MOST_WARNINGS = 16
_LABEL = 24
"""Height of the line above each view of a contact sheet, pixels."""

T = TypeVar("T", bound=Finding)


class Completion(Protocol):
    """A model's reply, as far as it is read here."""

    @property
    def content(self) -> str:
        """The text."""
        ...

    @property
    def finish_reason(self) -> str:
        """`stop`, or `length` when it was cut off."""
        ...


class ChatModel(Protocol):
    """A model on a server."""

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        max_tokens: int,
        temperature: float,
        schema: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] = ...,
    ) -> Completion:
        """The reply to messages in OpenAI's form; raises ServiceError."""
        ...


def read_reply(kind: type[T], completion: Completion, *, yxyx: bool) -> T:
    """The result that a reply holds.

    Args:
        kind: of the result.
        completion: the reply.
        yxyx: how the model writes boxes.

    Raises:
        ServiceError: it was cut off, or is no result of that kind.

    """
    if completion.finish_reason == "length":
        raise ServiceError(SERVICE, "a reply that was cut off")
    try:
        raw = json.loads(completion.content)
        if not isinstance(raw, dict):
            raise ServiceError(SERVICE, "a reply that is no JSON object")
        values, warnings = with_shares({name: raw[name] for name in raw if name not in kind.OWN}, yxyx=yxyx)
        return kind.model_validate({**values, "warnings": warnings[:_MOST_WARNINGS]})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise ServiceError(SERVICE, f"a reply of another form ({where}: {first['type']})") from error
    except (ValueError, RecursionError) as error:
        raise ServiceError(SERVICE, "a reply that is no JSON") from error


@cache
def schema_for(kind: type[Finding]) -> dict[str, Any]:
    """The JSON schema of a reply: every field is required, and there are no others."""
    schema = kind.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        properties = {name: spec for name, spec in part.get("properties", {}).items() if name not in kind.OWN}
        if properties:
            for spec in properties.values():
                spec.pop("default", None)
            part.update(properties=properties, required=list(properties), additionalProperties=False)
    return schema


def contact_sheet(views: Sequence[Image.Image]) -> Image.Image:
    """All views below each other, each under its number, for a model that takes one picture."""
    width = max(view.width for view in views)
    sheet = Image.new("RGB", (width, sum(view.height + _LABEL for view in views)), "white")
    draw, top = ImageDraw.Draw(sheet), 0
    for number, view in enumerate(views):
        draw.text((4, top + 4), f"view {number}", fill="black")
        sheet.paste(view, (0, top + _LABEL))
        top += view.height + _LABEL
    return sheet
