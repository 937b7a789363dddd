"""A student of a few thousand weights, made as the product makes it."""

import io
from pathlib import Path

import pytest
from PIL import Image

from components.config.schema import PolicyParams
from components.policies.encoding import ChatEncoder
from components.policies.student import build_image_processor, build_student, save_student
from components.policies.tokenizer import train_tokenizer
from components.records.conversation import Message, ToolSchema
from components.records.image_bank import ImageBank

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


@pytest.fixture(scope="session")
def bank(tmp_path_factory: pytest.TempPathFactory) -> ImageBank:
    return ImageBank(tmp_path_factory.mktemp("bank"))


@pytest.fixture(scope="session")
def tokenizer():
    texts = [
        CALL,
        REPORT,
        "o1\nHarvest Gala\nRowan Hall\n12 March 2031",
        "<|im_start|>user\nIs it supported?<|im_end|>",
    ]
    return train_tokenizer(texts * 20, TINY.vocab_size)


@pytest.fixture(scope="session")
def encoder(tokenizer, bank: ImageBank) -> ChatEncoder:
    return ChatEncoder(tokenizer, build_image_processor(TINY), bank)


@pytest.fixture(scope="session")
def folder(tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("student")
    save_student(place, build_student(TINY, tokenizer), tokenizer, build_image_processor(TINY))
    return place


@pytest.fixture
def messages(bank: ImageBank) -> tuple[Message, ...]:
    """An episode with two pictures: the case's and one that a tool returned."""
    return (
        Message("system", "Check the picture."),
        Message("user", "Is it supported?", images=(bank.put(picture("red")),)),
        Message("assistant", CALL),
        Message("tool", "o1\nHarvest Gala", observation_id="o1"),
        Message("user", "", images=(bank.put(picture("blue")),)),
        Message("assistant", REPORT),
    )
