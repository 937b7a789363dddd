"""Mistakes that the scripted teacher makes on purpose, so that a student sees how to go on after a correction.

A student that has never read a correction falls apart at its first one. The mistaken turn itself is masked in review,
so it is read and not learned; the turn after it is learned like any other.
"""

from collections.abc import Callable, Sequence

from components.agent.codec import parse_turn, render_call, render_report
from components.policies.reading import Call, calls_of
from components.records.conversation import Conversation, Message
from components.records.episode import Report
from components.tools.base import LEAD_TOOLS

EVERY = 5
"""One investigation in so many has a slip."""
_TO_REPEAT = ("visit", "text_search")


def slip(conversation: Conversation, luck: bytes, right: str) -> str | None:
    """A mistaken turn instead of `right`, or None; at most one in an investigation.

    Args:
        conversation: so far.
        luck: decides whether there is a slip, and which.
        right: the turn that the teacher would make.

    """
    if luck[0] % EVERY or _was_corrected(conversation.messages):
        return None
    kind = _REPORT_SLIPS[luck[1] % len(_REPORT_SLIPS)] if luck[1] % 2 else None
    if conversation.stage == "report":
        report = parse_turn(right).report
        return kind(report, calls_of(conversation.messages)) if kind and report else None
    return None if kind else _repeated(calls_of(conversation.messages))


def _was_corrected(messages: Sequence[Message]) -> bool:
    """Whether a call was refused, or a report."""
    refused = any(not call.observation_id and call.tool != "finish_investigation" for call in calls_of(messages))
    return refused or any(message.role == "assistant" and "<answer>" in message.text for message in messages)


def _repeated(calls: Sequence[Call]) -> str | None:
    """The last call again, if that is one which may be made once only."""
    last = calls[-1] if calls else None
    if last is None or last.tool not in _TO_REPEAT or not last.observation_id:
        return None
    return render_call("look again.", last.tool, last.arguments_dict)


def _cites_a_lead(report: Report, calls: Sequence[Call]) -> str | None:
    leads = [call.observation_id for call in calls if call.tool in LEAD_TOOLS and call.observation_id]
    return _rendered(report, (*report.cited, leads[0])) if leads else None


def _cites_twice(report: Report, calls: Sequence[Call]) -> str | None:
    return _rendered(report, (*report.cited, report.cited[-1])) if report.cited else None


def _is_cut(report: Report, calls: Sequence[Call]) -> str | None:
    return render_report("report.", report).partition(', "cited"')[0]


def _rendered(report: Report, cited: tuple[str, ...]) -> str:
    return render_report("report.", report.model_copy(update={"cited": cited}))


_REPORT_SLIPS: tuple[Callable[[Report, Sequence[Call]], str | None], ...] = (_cites_a_lead, _cites_twice, _is_cut)
