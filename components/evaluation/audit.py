"""The strict audit of what happened in an investigation: broken tools, sources out of bounds, and what is only noted.

It reads the stored record: what was refused, what was executed, and every address that either of them names.
"""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import unquote_plus, urlsplit

from components.evaluation.findings import Fatal, Finding, Notice, fatal, notice
from components.records.admission import Gate
from components.records.episode import Episode, FailureClass, Observation, Step, StepKind, ToolCall
from components.tools import messages
from components.tools.source_policy import SourcePolicy

_LABELS = "fake|false|misleading|hoax(?:es)?"
_LABELLED = "news|claims?|images?|photos?|pictures?|videos?|posts?|stor(?:y|ies)"
_READY_MADE = re.compile(
    rf"\bfact[\s_-]?check|\b(?:{_LABELS})[\s_-]+(?:{_LABELLED})\b|\b(?:{_LABELLED})[\s_-]+(?:{_LABELS})\b",
    re.IGNORECASE,
)
"""What asks for somebody else's verdict."""
_QUERIES = ("query", "queries", "goal")
_STATUSES = ("success", "error")
_audit = partial(fatal, Gate.AUDIT)


def audit(episode: Episode, sources: SourcePolicy) -> Iterator[Finding]:
    """Everything that is found, turn by turn.

    Args:
        episode: its record is in order.
        sources: what was out of bounds.

    """
    successes = [step.index for step in episode.steps if step.observation and step.observation.succeeded]
    last = max(successes, default=-1)
    for step in episode.steps:
        if step.kind is StepKind.CORRECTION:
            yield from _refused(step)
        elif step.observation is not None and step.call is not None:
            yield from _broken(step.observation, step.index)
            yield from _out_of_bounds(step.call, step.observation, step.index, sources)
            yield from _noted(step.observation, step.index, recovered=step.index < last)


def _refused(step: Step) -> Iterator[Finding]:
    """A request for a forbidden source counts, although it was refused; any other refusal is only noted."""
    if step.feedback in (messages.BLOCKED_URL, messages.BLOCKED_QUERY):
        yield _audit(Fatal.POLICY_VIOLATION, "A source that is out of bounds was asked for.", step.index)
    else:
        yield notice(Notice.PROTOCOL_CORRECTION, f"The turn was refused: {step.feedback}", step.index)


def _broken(item: Observation, index: int) -> Iterator[Finding]:
    """Success or error, and an error says which and why; a wrong call is refused, and never executed."""
    name = item.observation_id
    if item.status not in _STATUSES:
        yield _audit(Fatal.ENGINEERING, f"{name} is neither a success nor an error.", index)
    elif item.succeeded != (item.failure is None):
        yield _audit(Fatal.ENGINEERING, f"{name} is a {item.status} of class {item.failure}.", index)
    elif item.failure is FailureClass.MODEL:
        yield _audit(Fatal.ENGINEERING, f"{name} was executed, although the call is wrong.", index)
    elif not item.succeeded and not item.text.strip():
        yield _audit(Fatal.ENGINEERING, f"{name} is an error that says nothing.", index)


def _out_of_bounds(call: ToolCall, item: Observation, index: int, sources: SourcePolicy) -> Iterator[Finding]:
    arguments = json.loads(call.arguments_json)
    if any(map(_asks_for_a_verdict, _strings(arguments))) or any(
        _READY_MADE.search(text) for key in _QUERIES for text in _strings(arguments.get(key))
    ):
        yield _audit(Fatal.POLICY_VIOLATION, f"{item.observation_id} asks for a ready-made verdict.", index)
    found = (item.source_url or "", *_strings(arguments), *_strings(json.loads(item.payload_json)))
    blocked = next((text for text in found if _is_address(text) and sources.blocks_url(text)), None)
    if blocked is not None:
        yield _audit(Fatal.SOURCE_ACCESS, f"{item.observation_id} names {blocked}, which is out of bounds.", index)
    elif item.failure is FailureClass.POLICY:
        yield _audit(Fatal.SOURCE_ACCESS, f"{item.observation_id} led to a source that is out of bounds.", index)


def _noted(item: Observation, index: int, *, recovered: bool) -> Iterator[Finding]:
    if item.failure is not None:
        code = Notice.RECOVERED_FAILURE if recovered else Notice.UNRECOVERED_FAILURE
        yield notice(code, f"{item.observation_id} failed: {item.failure.value}.", index)
    if item.cache_hit:
        yield notice(Notice.CACHE_HIT, f"{item.observation_id} came from a cache.", index)


def _strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _is_address(text: str) -> bool:
    """Whether a text is an address as a whole; what a page says is no access to it."""
    return text.startswith(("http://", "https://")) and not any(mark.isspace() for mark in text)


def _asks_for_a_verdict(text: str) -> bool:
    """Whether an address asks for it behind its question mark."""
    if not _is_address(text):
        return False
    try:
        query = urlsplit(text).query
    except ValueError:
        return False
    return _READY_MADE.search(unquote_plus(query)) is not None
