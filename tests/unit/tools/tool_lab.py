"""A case, calls on its tools, an OCR engine, and a model that looks."""

import io
import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from PIL import Image

from components.records.case import Case
from components.records.episode import Observation, ToolCall
from components.records.image_bank import sha256_hex
from components.tools.toolbox import Refused, Toolbox


def read(data: bytes) -> list[SimpleNamespace]:
    """An OCR engine that finds text in pictures of a case's size alone."""
    if Image.open(io.BytesIO(data)).size != (320, 240):
        return []
    lines = [("Rowan Hall", (20, 205, 110, 217)), ("Harvest", (90, 8, 150, 24)), ("Gala", (156, 8, 190, 24))]
    return [SimpleNamespace(text=text, box=box, confidence=0.9) for text, box in lines]


def case_of(image: bytes) -> Case:
    return Case(case_id="c1", image_path="x.png", image_sha256=sha256_hex(image))


async def call(toolbox: Toolbox, name: str, arguments: dict[str, str], number: int) -> Observation | str:
    """The observation, or the sentence that refuses the call."""
    checked = toolbox.check(ToolCall(name=name, arguments_json=json.dumps(arguments)), 24)
    return checked.sentence if isinstance(checked, Refused) else await toolbox.execute(checked, f"o{number}")


class Reply(NamedTuple):
    content: str
    finish_reason: str = "stop"


class Chat:
    """A model that gives one reply, and keeps what it was asked."""

    def __init__(self, reply: Any, finish_reason: str = "stop") -> None:
        self.reply = Reply(reply if isinstance(reply, str) else json.dumps(reply), finish_reason)
        self.asked: list[dict[str, Any]] = []

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        max_tokens: int,
        temperature: float,
        schema: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] = {},
    ) -> Reply:
        parts = messages[-1]["content"]
        self.asked.append(
            {"max_tokens": max_tokens, "temperature": temperature, "schema": schema, "parts": parts, "extra": extra}
        )
        return self.reply
