"""The gate of citations: each is the id of an earlier observation, as it stands in what is read, that is evidence."""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from components.agent.render import messages_of
from components.evaluation.findings import Fatal, Finding, fatal
from components.records.admission import Gate
from components.records.episode import Episode, Observation, Step, ToolCall
from components.tools import messages
from components.tools.base import CLOCK, LEAD_TOOLS

_citations = partial(fatal, Gate.CITATIONS)
_NOTES = frozenset({"note", "status", "error"})
"""Fields of a payload that tell about the call and not about what was found."""
_NOTHING = frozenset(
    text.casefold()
    for text in (
        messages.NOTHING_FOUND,
        messages.NO_TEXT,
        messages.NO_PAGE_TEXT,
        messages.NOT_THERE,
        messages.NOT_COMPARABLE,
        messages.NOT_ANSWERED,
        messages.NO_WORDS,
    )
)


def citations(episode: Episode) -> Iterator[Finding]:
    """What is wrong with the report's citations, one after another.

    Args:
        episode: masked as it would be learned from; has a report.

    """
    cited = episode.report.cited if episode.report else ()
    if not cited:
        yield _citations(Fatal.INVALID_EVIDENCE, "The report cites no observation.")
    steps = {step.observation.observation_id: step for step in episode.steps if step.observation}
    shown = set(_shown(episode))
    for position, name in enumerate(cited):
        if name in cited[:position]:
            yield _citations(Fatal.INVALID_EVIDENCE, f"{name} is cited twice.")
        elif name not in shown:
            yield _citations(Fatal.INVALID_EVIDENCE, f"{name} does not stand in what was observed before the report.")
        else:
            yield from _problem(name, steps)


def material(item: Observation, call: ToolCall | None) -> bool:
    """Whether an observation says anything: an empty list, a note or white space is no evidence, whatever its status.

    Args:
        item: the observation.
        call: what it answers; a payload that only repeats it says nothing.

    """
    text = item.text.strip()
    if not text or text.casefold() in _NOTHING:
        return False
    payload = json.loads(item.payload_json)
    if not payload:
        return True
    asked = json.loads(call.arguments_json) if call else {}
    return any(_says_something(value) for key, value in payload.items() if key not in _NOTES | asked.keys())


def _shown(episode: Episode) -> Iterator[str]:
    """Ids of observations that a reader of the conversation finds there, letter for letter."""
    for message in messages_of(episode):
        if message.observation_id is not None and message.observation_id in message.text.split("\n"):
            yield message.observation_id


def _problem(name: str, steps: Mapping[str, Step]) -> Iterator[Finding]:
    step = steps[name]
    item = step.observation
    assert item is not None, "steps are those with an observation"
    if not item.succeeded:
        yield _citations(Fatal.EVIDENCE_CALL_NOT_SUCCESSFUL, f"{name} is cited and failed.", step.index)
    elif item.tool in LEAD_TOOLS:
        yield _citations(Fatal.INVALID_EVIDENCE, f"{name} is cited and only a search result.", step.index)
    elif item.tool == CLOCK:
        yield _citations(Fatal.INVALID_EVIDENCE, f"{name} is cited and only the time.", step.index)
    elif not material(item, step.call):
        yield _citations(Fatal.INVALID_EVIDENCE, f"{name} is cited and says nothing.", step.index)
    elif step.masked:
        yield _citations(Fatal.INVALID_EVIDENCE, f"{name} is cited, and its turn is not learned from.", step.index)


def _says_something(value: Any) -> bool:
    """Whether a JSON value holds a number or a text anywhere; nought is a number."""
    if isinstance(value, dict | list):
        return any(map(_says_something, value.values() if isinstance(value, dict) else value))
    return value is not None and (not isinstance(value, str) or bool(value.strip()))
