"""Conversations against the chat templates of the models that are served, as TRL keeps them."""

import json
from dataclasses import replace
from importlib.resources import files
from itertools import groupby

import pytest
from policy_samples import CALL, REPORT, TINY, TOOLS, picture
from transformers.utils.chat_template_utils import render_jinja_template

from components.agent.codec import parse_turn
from components.policies.encoding import ChatEncoder
from components.policies.layout import Slot, slot_text
from components.policies.student import build_image_processor
from components.policies.tokenizer import train_tokenizer
from components.records.conversation import Message

THINKING, SIMPLE = "qwen3_5_think", "qwen3_vl"
LOOK = "<think>\nlook first.\n</think>\n\n<tool_call>\n<function=perceive_scene>\n</function>\n</tool_call>"


def template(name: str) -> str:
    return files("trl").joinpath(f"chat_templates/{name}.jinja").read_text("utf-8")


@pytest.fixture(params=[THINKING, SIMPLE])
def served(request, bank) -> ChatEncoder:
    tokenizer = train_tokenizer([CALL, REPORT, "o1\nHarvest Gala"] * 20, TINY.vocab_size)
    tokenizer.chat_template = template(request.param)
    tokenizer.is_thinking = request.param == THINKING
    return ChatEncoder(tokenizer, build_image_processor(TINY), bank)


@pytest.fixture
def episode(messages) -> tuple[Message, ...]:
    """Two turns before a picture that a tool returned, one after it."""
    first, question, call, found, shown, report = messages
    looked = Message("tool", "o1\npeople: 2", observation_id="o1")
    return first, question, Message("assistant", LOOK), looked, call, found, shown, report


def as_served(message: Message, thinking: bool) -> dict[str, object]:
    """A message as a client of a server sends it: thought, text and calls apart where the model thinks."""
    if message.role != "assistant":
        return {
            "role": message.role,
            "content": [{"type": "image"} for _ in message.images] + [{"type": "text", "text": message.text}],
        }
    if not thinking:
        return {"role": "assistant", "content": message.text}
    parsed, rest = parse_turn(message.text), message.text.partition("</think>")[2].strip()
    sent: dict[str, object] = {"role": "assistant", "reasoning_content": parsed.thought, "content": rest}
    if parsed.call is not None:
        arguments = json.loads(parsed.call.arguments_json)
        sent |= {"content": "", "tool_calls": [{"function": {"name": parsed.call.name, "arguments": arguments}}]}
    return sent


def rendered(served: ChatEncoder, messages, prompt: bool) -> str:
    chat = [as_served(message, served.tokenizer.is_thinking) for message in messages]
    (text,), _ = render_jinja_template(
        [chat],
        tools=[tool.as_function() for tool in TOOLS],
        chat_template=served.tokenizer.chat_template,
        add_generation_prompt=prompt,
    )
    return text


def collapsed(served: ChatEncoder, token_ids) -> list[int]:
    """Every picture's features as one placeholder again."""
    return [
        token
        for token, run in groupby(token_ids)
        for _ in ([token] if token == served.image_id else run)
    ]  # fmt: skip


def test_ids_are_those_of_the_text_that_a_server_renders(served, episode):
    for end in range(1, len(episode) + 1):
        if episode[end - 1].role == "system":
            continue
        prompt = episode[end - 1].role != "assistant"
        ids = served.encode(episode[:end], TOOLS, prompt=prompt).token_ids
        assert served.tokenizer.decode(collapsed(served, ids)) == rendered(served, episode[:end], prompt)


def test_a_thinking_template_drops_the_thoughts_before_the_last_picture_and_keeps_the_others(served, episode):
    row = served.encode(episode, TOOLS, prompt=False)
    texts = [served.tokenizer.decode(row.token_ids[start:end]) for start, end in row.turns]
    if served.tokenizer.is_thinking:
        assert row.thoughtless == 2
        assert texts == [
            f"{LOOK.partition('</think>')[2].strip()}<|im_end|>",
            f"{CALL.partition('</think>')[2].strip()}<|im_end|>",
            f"{REPORT.removeprefix('<think>')[1:]}<|im_end|>",
        ]
        assert served.encode(episode[:6], TOOLS, prompt=True).thoughtless == 0
    else:
        assert row.thoughtless == 0
        assert texts == [f"{turn}<|im_end|>" for turn in (LOOK, CALL, REPORT)]


@pytest.mark.incident("PT-10")
def test_a_turns_prompt_is_a_prefix_of_the_row_in_which_it_stands_whole(served, episode):
    for last in (4, 7):
        row = served.encode(episode[: last + 1], TOOLS, prompt=False)
        turns = [position for position in range(last + 1) if episode[position].role == "assistant"]
        whole = list(zip(turns, row.turns, strict=True))[row.thoughtless :]
        assert whole
        for position, (start, _) in whole:
            assert row.token_ids[:start] == served.encode(episode[:position], TOOLS, prompt=True).token_ids


@pytest.mark.incident("PT-2")
def test_pictures_of_every_role_have_as_many_placeholders_as_features(served, episode, bank):
    shown = replace(episode[3], images=(bank.put(picture("green")),))
    for messages in (episode, (*episode[:3], shown, *episode[4:])):
        row = served.encode(messages, TOOLS, prompt=False)
        pictures = [digest for message in messages for digest in message.images]
        assert row.images == pictures
        assert row.token_ids.count(served.image_id) == sum(map(served.image_tokens, pictures))


@pytest.mark.incident("PT-9")
def test_sampled_ids_are_used_as_they_are_where_their_text_would_encode_differently(served, episode):
    text = CALL.removeprefix("<think>\n") if served.tokenizer.is_thinking else CALL
    thought, closing, rest = text.partition("\n</think>\n\n")
    letters = [token for character in thought for token in served.tokenizer.encode(character)]
    behind = [token for character in rest for token in served.tokenizer.encode(character)]
    sampled = (*letters, *served.tokenizer.encode(closing), *behind, served.stop_id)
    turn = Message("assistant", text, token_ids=sampled, vocabulary=served.vocabulary)
    kept = served.encode((*episode[:4], turn, episode[5]), TOOLS, prompt=True)
    start, end = kept.turns[1]
    assert tuple(kept.token_ids[start:end]) == sampled
    later = served.encode((*episode[:4], turn, *episode[5:]), TOOLS, prompt=False)
    start, end = later.turns[1]
    expected = (*behind, served.stop_id) if served.tokenizer.is_thinking else sampled
    assert tuple(later.token_ids[start:end]) == expected


def test_a_turn_without_a_thought_has_an_empty_one_where_the_template_opens_it():
    opened = Slot(0, whole=True, opened=True)
    assert slot_text("just words", opened) == "\n</think>\n\njust words"
    assert slot_text("a\n</think>\n\nb", opened) == "a\n</think>\n\nb"
    assert slot_text("<think>\na\n</think>\n\nb", opened._replace(whole=False)) == "b"
