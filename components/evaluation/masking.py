"""Which turns of an episode are not learned from: they stay as context, so that what follows upon them makes sense."""

from collections.abc import Sequence

from components.records.episode import Episode, Step, StepKind


def masked(episode: Episode) -> Episode:
    """The episode with every turn masked that should not be learned: faults, and choices that led nowhere."""
    cited = episode.report.cited if episode.report else ()
    steps = tuple(
        step.model_copy(update={"masked": True})
        if is_fault(step) or _counted_nothing(step) or _opened_in_vain(step, cited)
        else step
        for step in episode.steps
    )
    return episode.model_copy(update={"steps": steps})


def is_fault(step: Step) -> bool:
    """Whether the turn was refused, or its call failed."""
    failed = step.observation is not None and not step.observation.succeeded
    return failed or step.kind is StepKind.CORRECTION


def _counted_nothing(step: Step) -> bool:
    found = step.observation
    return found is not None and found.tool == "count_objects" and found.text.strip().endswith(": 0")


def _opened_in_vain(step: Step, cited: Sequence[str]) -> bool:
    """Whether a page was opened that the report does not rest on."""
    found = step.observation
    return found is not None and found.tool == "visit" and found.observation_id not in cited
