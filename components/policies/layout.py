"""Where a policy's own turns stand in a conversation that a chat template has laid out.

A template treats a turn in one of two ways. The simple kind (the micro student's, Qwen3-VL's) takes it as it was
written. The thinking kind (Qwen3.5's) opens the thought in the prompt already, lays thought and rest out by itself, and
leaves out the thoughts of turns that come before the user's last message; a picture that a tool returns is such a
message. What a template does is found out by asking it: turns are marks, and the marks tell what became of them.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from components.records.conversation import Message, ToolSchema

_TURN, _REST = "\ue000{}\ue001", "\ue002{}\ue001"
_MARKS = re.compile("\ue000(\\d+)\ue001(?:[^\ue000\ue002]*\ue002\\1\ue001)?|\ue002(\\d+)\ue001")
"""A thought with the rest that follows, or a turn as a whole; or a rest alone."""
_OPENED = "<think>\n"


class Slot(NamedTuple):
    """The place of an assistant turn."""

    position: int
    """Of its message."""
    whole: bool
    """Whether its thought stands there too."""
    opened: bool
    """Whether the text before it has opened the thought."""


def lay_out(
    tokenizer: Any, messages: Sequence[Message], tools: Sequence[ToolSchema], *, prompt: bool
) -> list[str | Slot]:
    """The conversation as text, with slots where the assistant's turns go; what ends a turn is left to the slot's text.

    Args:
        tokenizer: has the chat template.
        messages: the conversation.
        tools: the tools that the prompt lists.
        prompt: whether the opening of the next assistant turn follows.

    """
    apart = "reasoning_content" in tokenizer.chat_template
    text = tokenizer.apply_chat_template(
        [_for_template(position, message, apart) for position, message in enumerate(messages)],
        tools=[tool.as_function() for tool in tools] or None,
        tokenize=False,
        add_generation_prompt=prompt,
    )
    laid: list[str | Slot] = []
    end = 0
    for mark in _MARKS.finditer(text):
        before = text[end : mark.start()]
        thought, rest = mark.groups()
        laid += [before, Slot(int(thought or rest), thought is not None, apart and before.endswith(_OPENED))]
        end = mark.end()
    return [*laid, text[end:]]


def slot_text(turn: str, slot: Slot) -> str:
    """What a turn that was written as `turn` reads in its slot, without what ends it."""
    head, closed, rest = turn.partition("</think>")
    if not slot.whole:
        return (rest if closed else turn).strip()
    if not slot.opened:
        return turn
    # Without a thought the template has an empty one.
    return turn.removeprefix(_OPENED) if closed else f"\n</think>\n\n{head}"


def _for_template(position: int, message: Message, apart: bool) -> dict[str, Any]:
    if message.role == "assistant":
        whole, rest = _TURN.format(position), _REST.format(position)
        said = {"reasoning_content": whole, "content": rest} if apart else {"content": whole}
        return {"role": "assistant", **said}
    parts: list[dict[str, str]] = [{"type": "image"} for _ in message.images]
    if message.text:
        parts.append({"type": "text", "text": harmless(message.text)})
    return {"role": message.role, "content": parts}


def harmless(text: str) -> str:
    """Text from outside, unable to form a structure token or a mark."""
    return re.sub("[\ue000-\ue002]", "", text.replace("<|", "< |"))
