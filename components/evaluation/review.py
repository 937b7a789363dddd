"""Stage `review`: which teacher episodes are learned from, and which of their turns.

The gates follow EviScene's admission rules: the episode ended by itself with a valid report, the verdict is right, no
source was touched that is forbidden, the conduct is clean, and the judge calls the grounds strong. Turns that led
nowhere stay in an admitted episode as context and are masked: nobody should learn to repeat them.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum

from components.config.paths import Paths
from components.config.schema import Params
from components.errors import EviflowError
from components.evaluation.gold import load_gold
from components.evaluation.rules_judge import judge
from components.evaluation.summary import error_type
from components.records.base import Record
from components.records.case import Gold, Split
from components.records.episode import Episode, FailureClass, Step, StepKind, Termination
from components.records.shards import read_episodes, write_episodes
from components.storage.atomic import replace_folder, write_json
from components.tools import messages

MAX_FAULTS = 3
"""An episode with more errors and corrections than this is no example of good conduct."""


class Gate(StrEnum):
    """Why an episode is not admitted, in the order of the gates; the judge's own reasons follow `judge:`."""

    NO_GOLD = "no_gold"
    """The case has no private record."""
    UNFINISHED = "unfinished"
    """The policy did not end its investigation with a valid report."""
    WRONG_VERDICT = "wrong_verdict"
    POLICY_VIOLATION = "policy_violation"
    """A forbidden source was asked for."""
    DEGRADED_CONDUCT = "degraded_conduct"
    """Too many errors and refused turns."""
    SURPLUS = "surplus"
    """The case has better episodes, as many as are kept."""


class Yield(Record):
    """What one kind of case yields."""

    cases: int
    episodes: int
    admitted: int
    cases_covered: int
    """Cases with at least one admitted episode."""


class ReviewSummary(Record):
    """The funnel from collected to admitted episodes."""

    total: int
    admitted: int
    rejected: dict[str, int]
    """By reason; sums with `admitted` to `total`."""
    steps: int
    """Turns of admitted episodes."""
    masked_steps: int
    """Those of them that are not learned from."""
    by_error_type: dict[str, Yield]
    """`supported` stands for the faithful pictures."""


def review_episodes(params: Params, paths: Paths) -> ReviewSummary:
    """Review `data/episodes`; write `data/reviewed` and `reports/data/review.json`.

    Raises:
        EviflowError: the episodes are not there, or none is admitted.

    """
    episodes, gold = collected_episodes(paths), load_gold(paths, Split.TRAIN)
    admitted, rejected = select(episodes, gold, params.review.per_case)
    summary = _summary(episodes, admitted, rejected, gold)
    write_json(paths.metrics / "review.json", summary)
    if not admitted:
        raise EviflowError(f"no teacher episode was admitted; {paths.metrics / 'review.json'} counts the reasons")
    with replace_folder(paths.reviewed) as staging:
        write_episodes(staging / "episodes.parquet", admitted)
    return summary


def collected_episodes(paths: Paths) -> list[Episode]:
    """What stage `episodes` collected.

    Raises:
        EviflowError: it is not there.

    """
    if not any(paths.episodes.glob("episodes*.parquet")):
        raise EviflowError(f"{paths.episodes} holds no episodes; run `eviflow stage episodes` or `dvc checkout`")
    return read_episodes(paths.episodes)


def select(episodes: Sequence[Episode], gold: Mapping[str, Gold], per_case: int) -> tuple[list[Episode], Counter[str]]:
    """The admitted episodes, masked, at most `per_case` of each case; and how many were rejected, by reason."""
    rejected: Counter[str] = Counter()
    passed: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        reason = rejection(episode, gold.get(episode.case.case_id))
        if reason is None:
            passed[episode.case.case_id].append(masked(episode))
        else:
            rejected[reason] += 1
    ranked = {case_id: sorted(found, key=_cost) for case_id, found in passed.items()}
    if surplus := sum(len(found[per_case:]) for found in ranked.values()):
        rejected[Gate.SURPLUS.value] = surplus
    return [episode for found in ranked.values() for episode in found[:per_case]], rejected


def rejection(episode: Episode, gold: Gold | None) -> str | None:
    """The first gate that `episode` does not pass, or None."""
    if gold is None:
        return Gate.NO_GOLD.value
    if episode.termination is not Termination.FINISHED or episode.report is None:
        return Gate.UNFINISHED.value
    if episode.report.verdict is not gold.factual_status:
        return Gate.WRONG_VERDICT.value
    if any(_touched_forbidden(step) for step in episode.steps):
        return Gate.POLICY_VIOLATION.value
    if sum(_is_fault(step) for step in episode.steps) > MAX_FAULTS:
        return Gate.DEGRADED_CONDUCT.value
    judgment = judge(episode, gold)
    return None if judgment.strong else f"judge:{judgment.reason.value}"


def masked(episode: Episode) -> Episode:
    """The episode with every turn masked that should not be learned: faults, and choices that led nowhere."""
    cited = episode.report.cited if episode.report else ()
    steps = tuple(
        step.model_copy(update={"masked": True})
        if _is_fault(step) or _counted_nothing(step) or _opened_in_vain(step, cited)
        else step
        for step in episode.steps
    )
    return episode.model_copy(update={"steps": steps})


def _touched_forbidden(step: Step) -> bool:
    """Whether a forbidden source was asked for; a refused request counts as much as one that a redirect led to."""
    if step.observation is not None:
        return step.observation.failure is FailureClass.POLICY
    return step.kind is StepKind.CORRECTION and step.feedback in (messages.BLOCKED_URL, messages.BLOCKED_QUERY)


def _is_fault(step: Step) -> bool:
    failed = step.observation is not None and not step.observation.succeeded
    return failed or step.kind is StepKind.CORRECTION


def _counted_nothing(step: Step) -> bool:
    found = step.observation
    return found is not None and found.tool == "count_objects" and found.text.strip().endswith(": 0")


def _opened_in_vain(step: Step, cited: Sequence[str]) -> bool:
    """Whether a page was opened that the report does not rest on."""
    found = step.observation
    return found is not None and found.tool == "visit" and found.observation_id not in cited


def _cost(episode: Episode) -> tuple[int, int, int]:
    return sum(step.masked for step in episode.steps), len(episode.steps), episode.seed


def _summary(
    episodes: Sequence[Episode], admitted: Sequence[Episode], rejected: Counter[str], gold: Mapping[str, Gold]
) -> ReviewSummary:
    return ReviewSummary(
        total=len(episodes),
        admitted=len(admitted),
        rejected=dict(sorted(rejected.items())),
        steps=sum(len(episode.steps) for episode in admitted),
        masked_steps=sum(step.masked for episode in admitted for step in episode.steps),
        by_error_type=_yields(episodes, admitted, gold),
    )


def _yields(episodes: Sequence[Episode], admitted: Sequence[Episode], gold: Mapping[str, Gold]) -> dict[str, Yield]:
    kinds = {case_id: error_type(item) for case_id, item in gold.items()}
    collected = Counter(kinds[episode.case.case_id] for episode in episodes if episode.case.case_id in kinds)
    kept = Counter(kinds[episode.case.case_id] for episode in admitted)
    covered = Counter(kinds[case_id] for case_id in {episode.case.case_id for episode in admitted})
    cases = Counter(kinds.values())
    return {
        kind: Yield(cases=cases[kind], episodes=collected[kind], admitted=kept[kind], cases_covered=covered[kind])
        for kind in sorted(cases)
    }
