"""One turn of an episode as a page shows it: for the report and for reviewers alike."""

from collections.abc import Callable

from components.records.base import Record
from components.records.episode import Step
from components.rollout.show import call_text


class StepView(Record):
    """One turn and what followed it."""

    kind: str
    thought: str
    call: str
    """In one line, or the whole turn where nothing could be read from it; empty when the turn made none."""
    result: str
    """What was observed or answered; empty for the last turn."""
    observation: str
    """The observation's id; empty without one."""
    source: str
    """The web address that was opened; empty where none was."""
    failed: bool
    pictures: tuple[str, ...]
    """Those that a tool returned."""


def view_step(step: Step, shown: Callable[[str], str] = str) -> StepView:
    """What a page shows of a step.

    Args:
        step: the step.
        shown: what stands for a picture, given its SHA-256; by default that itself.

    """
    seen = step.observation
    unread = "" if step.thought else step.turn.text
    return StepView(
        kind=step.kind.value,
        thought=step.thought,
        call=call_text(step.call) if step.call else unread,
        result=f"{seen.observation_id}  {seen.text}" if seen else step.feedback,
        observation=seen.observation_id if seen else "",
        source=_web_address(seen.source_url or "") if seen else "",
        failed=seen is not None and not seen.succeeded,
        pictures=tuple(shown(digest) for digest in seen.images) if seen else (),
    )


def _web_address(url: str) -> str:
    """`url`, unless a browser would do something else with it than open a page."""
    return url if url.startswith(("http://", "https://")) else ""
