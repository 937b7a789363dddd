"""Turns, tools, sizes and pictures that the tests of policies share."""

import io

from PIL import Image

from components.config.schema import PolicyParams
from components.records.conversation import ToolSchema

CALL = (
    "<think>\nsearch the title.\n</think>\n\n<tool_call>\n<function=text_search>\n<parameter=query>\nHarvest Gala\n"
    "</parameter>\n</function>\n</tool_call>"
)
REPORT = (
    '<think>\nreport.\n</think>\n\n<answer>\n{"verdict": "refuted", "explanation": "count 8 vs 9 differs", '
    '"cited": ["o1"]}\n</answer>'
)
TINY = PolicyParams(
    vocab_size=512, hidden_size=32, layers=2, heads=2, intermediate_size=64, vision_depth=1, vision_hidden_size=16,
    vision_heads=2, image_pixels=4096,
)  # fmt: skip
TOOLS = (
    ToolSchema("text_search", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}}),
    ToolSchema("finish_investigation", "End.", {"type": "object", "properties": {"rationale": {"type": "string"}}}),
)


def picture(colour: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (96, 64), colour).save(buffer, "PNG")
    return buffer.getvalue()
