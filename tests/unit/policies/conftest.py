"""A student of a few thousand weights, made as the product makes it."""

from pathlib import Path

import pytest
from policy_samples import CALL, REPORT, TINY, picture

from components.policies.encoding import ChatEncoder
from components.policies.student import build_image_processor, build_student, save_student
from components.policies.tokenizer import train_tokenizer
from components.records.conversation import Message
from components.records.image_bank import ImageBank


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
