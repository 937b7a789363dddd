r"""The grammar of a turn: Qwen's XML tool calls, and a JSON report.

A turn is a thought and one call, or a thought and the report:

    <think>
    THOUGHT
    </think>

    <tool_call>
    <function=NAME>
    <parameter=KEY>
    VALUE
    </parameter>
    </function>
    </tool_call>

    <answer>
    {"verdict": "refuted", "explanation": "...", "cited": ["o2", "o4"]}
    </answer>

`parse_turn` is total: what it cannot read becomes a `problem`, one sentence for the policy. It never guesses.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from components.records.case import Verdict
from components.records.episode import Report, ToolCall
from components.tools import messages

_CALL = re.compile(r"<tool_call>\s*<function=([^<>\s]+)>(.*?)</function>\s*</tool_call>", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter=([^<>\s]+)>\n?(.*?)\n?</parameter>\s*", re.DOTALL)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_KEPT = 4096
"""Turns that are remembered: those of some hundred investigations."""
_TAG = re.compile(r"</?(?:think|tool_call|function|parameter|answer)\b")


@dataclass(frozen=True)
class Parsed:
    """A turn as read: a call, a report, or the problem that kept it from being either."""

    thought: str = ""
    call: ToolCall | None = None
    report: Report | None = None
    problem: str = ""
    """One sentence for the policy; empty when there is a call or a report."""
    reports: bool = False
    """Whether the turn is, or tries to be, a report."""


@lru_cache(_KEPT)
def parse_turn(text: str) -> Parsed:
    """Read a turn; never raises. A teacher reads its own earlier turns again and again, so they are remembered."""
    thought, body = _split_thought(text)
    if "<answer>" in body and "<tool_call>" not in body:
        return _parse_report(thought, body)
    return _parse_call(thought, body)


def render_call(thought: str, name: str, args: Mapping[str, object]) -> str:
    """The turn that thinks `thought` and calls `name`; raises ValueError when a value would break the grammar."""
    return f"{_render_thought(thought)}{call_block(name, args)}"


def call_block(name: str, args: Mapping[str, object]) -> str:
    """A call without the thought before it; raises ValueError when a value would break the grammar."""
    lines = [f"<tool_call>\n<function={_safe(name)}>"]
    for key, value in args.items():
        plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"<parameter={_safe(key)}>\n{_safe(plain)}\n</parameter>")
    lines.append("</function>\n</tool_call>")
    return "\n".join(lines)


def render_report(thought: str, report: Report) -> str:
    """The turn that thinks `thought` and reports; raises ValueError when a value would break the grammar."""
    fields = {"verdict": report.verdict.value, "explanation": report.explanation, "cited": list(report.cited)}
    return f"{_render_thought(thought)}<answer>\n{_safe(json.dumps(fields, ensure_ascii=False))}\n</answer>"


def _render_thought(thought: str) -> str:
    return f"<think>\n{_safe(thought)}\n</think>\n\n"


def _safe(text: str) -> str:
    if _TAG.search(text):
        raise ValueError(f"{text!r} holds a tag of the turn grammar; leave the tag out")
    return text


def _split_thought(text: str) -> tuple[str, str]:
    """The thought and what follows; a chat template may have opened the thought before the turn began."""
    head, closed, body = text.partition("</think>")
    if not closed:
        return "", text
    return head.replace("<think>", "", 1).strip(), body.strip()


def _parse_call(thought: str, body: str) -> Parsed:
    if "<tool_call>" not in body:
        return Parsed(thought, problem=messages.NO_CALL)
    if body.count("<tool_call>") > 1:
        return Parsed(thought, problem=messages.MANY_CALLS)
    match = _CALL.search(body)
    if match is None or body[match.end() :].strip():
        return Parsed(thought, problem=messages.BROKEN_CALL)
    arguments = _parse_parameters(match.group(2))
    if arguments is None:
        return Parsed(thought, problem=messages.BROKEN_CALL)
    return Parsed(thought, call=ToolCall(name=match.group(1), arguments_json=json.dumps(arguments, ensure_ascii=False)))


def _parse_parameters(text: str) -> dict[str, str] | None:
    """Values by key, as text; None when anything but parameters stands there, or one stands twice."""
    arguments: dict[str, str] = {}
    position = 0
    while text[position:].strip():
        match = _PARAMETER.match(text, position)
        if match is None or match.group(1) in arguments or "<parameter=" in match.group(2):
            return None
        arguments[match.group(1)] = match.group(2)
        position = match.end()
    return arguments


def _parse_report(thought: str, body: str) -> Parsed:
    if body.count("<answer>") > 1:
        return Parsed(thought, problem=messages.MANY_REPORTS, reports=True)
    match = _ANSWER.search(body)
    if match is None or body[match.end() :].strip():
        return Parsed(thought, problem=messages.NO_REPORT, reports=True)
    try:
        fields = json.loads(match.group(1), object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        return Parsed(thought, problem=messages.BROKEN_REPORT, reports=True)
    return _check_report(thought, fields)


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object, for `json.loads`; raises ValueError when a key stands twice."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key stands twice")
    return fields


def _check_report(thought: str, fields: object) -> Parsed:
    """Fails closed: a report with a field too many, too few or of another kind is no report."""
    if not isinstance(fields, dict) or fields.keys() != {"verdict", "explanation", "cited"}:
        return Parsed(thought, problem=messages.BROKEN_REPORT, reports=True)
    verdict, explanation, cited = fields["verdict"], fields["explanation"], fields["cited"]
    if verdict not in tuple(Verdict):
        return Parsed(thought, problem=messages.BAD_VERDICT, reports=True)
    if not isinstance(explanation, str) or not explanation.strip():
        return Parsed(thought, problem=messages.NO_EXPLANATION, reports=True)
    if not isinstance(cited, list) or not all(isinstance(item, str) for item in cited):
        return Parsed(thought, problem=messages.BROKEN_REPORT, reports=True)
    report = Report(verdict=Verdict(verdict), explanation=explanation, cited=tuple(cited))
    return Parsed(thought, report=report, reports=True)
