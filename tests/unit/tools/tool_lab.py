"""A case, calls on its tools, and an OCR engine."""

import io
import json
from types import SimpleNamespace

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
