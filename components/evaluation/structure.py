"""The first two gates: whether an investigation has come to its end, and whether its record is whole and in order."""

import json
from collections.abc import Iterator
from functools import partial

from components.evaluation.findings import Fatal, Finding, fatal
from components.records.admission import Gate
from components.records.episode import Episode, Step, StepKind, Termination

_terminal = partial(fatal, Gate.TERMINAL)
_structure = partial(fatal, Gate.STRUCTURE)


def terminal(episode: Episode) -> Iterator[Finding]:
    """Why the investigation has not come to its own end; nothing when it has."""
    if episode.termination is Termination.POLICY_ERROR:
        yield _terminal(Fatal.PROVIDER_FAILURE, "The policy gave no turn that may be used.")
    elif episode.termination is not Termination.FINISHED:
        yield _terminal(Fatal.TERMINATION_NOT_SUCCESS, f"It was ended for {episode.termination.value}.")
    elif episode.report is None:
        yield _terminal(Fatal.TERMINATION_NOT_SUCCESS, "It has ended without a report.")


def structure(episode: Episode) -> Iterator[Finding]:
    """Where the record contradicts itself."""
    yield from _order(episode)
    yield from _observations(episode)
    for step in episode.steps:
        yield from _whole(step)
        yield from _readable(step)
    yield from _ending(episode)
    if episode.actions_used > episode.action_budget:
        told = f"{episode.actions_used} calls were executed; the budget is {episode.action_budget}."
        yield _structure(Fatal.TRACE_CORRUPT, told)


def _order(episode: Episode) -> Iterator[Finding]:
    for position, step in enumerate(episode.steps):
        if step.index != position:
            yield _structure(Fatal.TRACE_CORRUPT, f"Turn {position} is numbered {step.index}.", position)


def _observations(episode: Episode) -> Iterator[Finding]:
    """Ids are given in order, `o1`, `o2`, ..., and tools are those that were offered."""
    seen = [(step.index, step.observation) for step in episode.steps if step.observation is not None]
    for number, (index, item) in enumerate(seen, start=1):
        if item.observation_id != f"o{number}":
            told = f"Observation {number} is called {item.observation_id}."
            yield _structure(Fatal.TRACE_CORRUPT, told, index)
        if item.tool not in episode.exposed_tools:
            yield _structure(Fatal.TRACE_CORRUPT, f"{item.tool} was called and never offered.", index)


def _whole(step: Step) -> Iterator[Finding]:
    """An action has a call and what came of it, of the same tool; nothing else has an observation."""
    if (step.kind is StepKind.ACTION) != (step.observation is not None):
        yield _structure(Fatal.TRACE_CORRUPT, f"A turn of kind {step.kind.value} lacks or has a result.", step.index)
    elif step.observation is not None and (step.call is None or step.call.name != step.observation.tool):
        called = step.call.name if step.call else "nothing"
        told = f"The turn calls {called}, and the result is of {step.observation.tool}."
        yield _structure(Fatal.TRACE_CORRUPT, told, step.index)


def _readable(step: Step) -> Iterator[Finding]:
    if step.kind is StepKind.ACTION and step.call and not _is_object(step.call.arguments_json):
        yield _structure(Fatal.MALFORMED, f"The arguments of {step.call.name} are no JSON object.", step.index)
    if step.observation and not _is_object(step.observation.payload_json):
        told = f"The payload of {step.observation.observation_id} is no JSON object."
        yield _structure(Fatal.MALFORMED, told, step.index)


def _ending(episode: Episode) -> Iterator[Finding]:
    """The report is the last turn and the only one of its kind, and follows upon the end of the investigation."""
    kinds = [step.kind for step in episode.steps]
    if episode.report is None:
        if StepKind.REPORT in kinds:
            yield _structure(Fatal.TRACE_CORRUPT, "A turn reports, and there is no report.")
        return
    if StepKind.REPORT not in kinds:
        yield _structure(Fatal.TRACE_CORRUPT, "There is a report, and no turn that gives it.")
        return
    at = kinds.index(StepKind.REPORT)
    for step in episode.steps[at + 1 :]:
        yield _structure(Fatal.POST_VERDICT, f"A turn of kind {step.kind.value} follows the report.", step.index)
    ended = StepKind.FINISH in kinds[:at]
    if episode.termination is Termination.FINISHED and episode.exposed_tools and not ended:
        yield _structure(Fatal.TRACE_CORRUPT, "The report does not follow upon the end of the investigation.", at)
    elif ended and StepKind.ACTION in kinds[kinds.index(StepKind.FINISH) :]:
        yield _structure(Fatal.TRACE_CORRUPT, "A call was executed after the investigation had ended.", at)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
