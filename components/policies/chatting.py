"""A conversation as a chat server is told it, and its reply as a turn in the grammar that every policy speaks."""

import json
from collections.abc import Callable
from typing import Any

from components.agent.codec import call_block, parse_turn, unique_keys
from components.policies.layout import harmless
from components.records.conversation import Conversation, Message
from components.tools.clients.chat import png_part
from components.tools.clients.completions import CalledFunction, Completion

_END = "</think>"
_CALL = "<tool_call>"


def chat_messages(
    conversation: Conversation, read: Callable[[str], bytes], *, thoughts: bool, parsed: bool
) -> list[dict[str, Any]]:
    """The conversation in OpenAI's form; pictures stand before the text of their message, as in what is trained on.

    Args:
        conversation: so far.
        read: the PNG of a SHA-256.
        thoughts: whether earlier thoughts are told.
        parsed: whether calls are told apart from text (`tool_calls`), or as they were written.

    """
    told: list[dict[str, Any]] = []
    called = False
    for at, message in enumerate(conversation.messages):
        if message.role == "assistant":
            answered = conversation.messages[at + 1 : at + 2]
            called = parsed and bool(answered) and answered[0].role == "tool"
            told.append(_turn(message.text, thoughts, f"call_{at}" if called else ""))
            called = not parsed or "tool_calls" in told[-1]
        elif message.role == "tool" and called:
            told.append({"role": "tool", "tool_call_id": f"call_{at - 1}", "content": harmless(message.text)})
        else:
            told.append({"role": "user" if message.role == "tool" else message.role, "content": _said(message, read)})
    return told


def _turn(text: str, thoughts: bool, call_id: str) -> dict[str, Any]:
    """An earlier turn; its call apart when it has one and `call_id` names it."""
    call = parse_turn(text).call if call_id else None
    thought, closed, rest = text.partition(_END)
    if closed:
        text = f"{thought}{_END}\n\n{rest.strip()}" if thoughts else rest.strip()
    if call is None:
        return {"role": "assistant", "content": harmless(text)}
    function = {"name": call.name, "arguments": harmless(call.arguments_json)}
    return {
        "role": "assistant",
        "content": harmless(_before_call(text)) or None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def _before_call(text: str) -> str:
    thought, closed, rest = text.partition(_END)
    return f"{thought}{closed}{rest.partition(_CALL)[0]}".strip() if closed else text.partition(_CALL)[0].strip()


def _said(message: Message, read: Callable[[str], bytes]) -> str | list[dict[str, Any]]:
    text = harmless(message.text)
    if not message.images:
        return text
    parts = [png_part(read(digest)) for digest in message.images]
    return [*parts, {"type": "text", "text": text}] if text else parts


def turn_text(completion: Completion) -> str:
    """A reply as a turn: thought, text, and calls in Qwen's grammar.

    A call that has no form in the grammar, such as one whose arguments are no JSON object, becomes a malformed one,
    which the loop refuses.
    """
    calls = [_call(call) for call in completion.tool_calls]
    if not completion.reasoning and not calls:
        return completion.content
    # Nothing that was thought may count as said.
    thought = completion.reasoning.replace(_END, "").strip()
    head = f"<think>\n{thought}\n{_END}\n\n" if thought else ""
    return head + "\n".join(part for part in (completion.content.strip(), *calls) if part)


def _call(call: CalledFunction) -> str:
    try:
        arguments = json.loads(call.arguments or "{}", object_pairs_hook=unique_keys)
        if isinstance(arguments, dict):
            return call_block(call.name, arguments)
    except (ValueError, RecursionError):
        pass
    written = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
    return f"{_CALL}\n{written}\n</tool_call>"
