"""From judged episodes to numbers: metrics with intervals, and the same broken down."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean

from components.config.schema import EvaluationParams
from components.evaluation.bootstrap import Interval, intervals, paired_difference
from components.evaluation.judgment import Judgment
from components.evaluation.metrics import Outcome, outcome, score
from components.records.base import Record
from components.records.case import Gold
from components.records.episode import Episode

Bounds = tuple[float, float]


class Group(Record):
    """The score of some of the cases."""

    n: int
    accuracy: float
    """Share of right verdicts."""
    sesr: float


class SystemSummary(Record):
    """Everything measured about one system."""

    metrics: dict[str, float]
    intervals: dict[str, Bounds]
    """Lower and upper bound for each rate."""
    breakdown: dict[str, dict[str, Group]]
    """By `error_type` and by `style`; `supported` stands for the faithful pictures."""
    reasons: dict[str, int]
    """The judge's reasons."""
    terminations: dict[str, int]


class Difference(Record):
    """One system minus another on the same cases."""

    metrics: dict[str, float]
    intervals: dict[str, Bounds]


class MetricsFile(Record):
    """The content of `metrics.json`."""

    judge: str
    cases: int
    suite_sha256: str
    """Of the test cases' public rows."""
    confidence: float
    systems: dict[str, SystemSummary]
    differences: dict[str, Difference]
    baselines: dict[str, dict[str, float]]


def outcomes_of(judgments: Sequence[Judgment]) -> list[Outcome]:
    """One outcome for each judged case; a case without an episode is missing, and stays in."""
    return [
        outcome(item.case_id, item.gold, item.verdict, strong=item.strong, missing=item.episode_id is None)
        for item in judgments
    ]


def summarise(
    episodes: Sequence[Episode], judgments: Sequence[Judgment], gold: Mapping[str, Gold], params: EvaluationParams
) -> SystemSummary:
    """All numbers of one system; `judgments` has one entry for each case of `gold`."""
    outcomes = outcomes_of(judgments)
    drawn = intervals(outcomes, samples=params.bootstrap_samples, confidence=params.confidence, seed=params.seed)
    return SystemSummary(
        metrics=score(outcomes) | _conduct(episodes),
        intervals=_bounds(drawn),
        breakdown={
            "error_type": _groups(judgments, lambda item: error_type(gold[item.case_id])),
            "style": _groups(judgments, lambda item: gold[item.case_id].style),
        },
        reasons=_counted(item.reason.value for item in judgments),
        terminations=_counted(item.termination.value for item in episodes),
    )


def compare(system: Sequence[Judgment], reference: Sequence[Judgment], params: EvaluationParams) -> Difference:
    """The paired difference of two systems, with its interval."""
    drawn = paired_difference(
        outcomes_of(system),
        outcomes_of(reference),
        samples=params.bootstrap_samples,
        confidence=params.confidence,
        seed=params.seed,
    )
    return Difference(metrics={name: item.value for name, item in drawn.items()}, intervals=_bounds(drawn))


def error_type(gold: Gold) -> str:
    """The error type's name; `supported` for a faithful picture, `refuted` for one whose error has no name."""
    return gold.error_type.value if gold.error_type else gold.factual_status.value


def _conduct(episodes: Sequence[Episode]) -> dict[str, float]:
    """How the investigations went: actions, turns, errors, and how long they took."""
    if not episodes:
        return {}
    return {
        "actions_mean": fmean(episode.actions_used for episode in episodes),
        "actions_max": float(max(episode.actions_used for episode in episodes)),
        "turns_mean": fmean(len(episode.steps) for episode in episodes),
        "failed_calls": float(sum(not item.succeeded for episode in episodes for item in episode.observations)),
    }


def _groups(judgments: Sequence[Judgment], name: Callable[[Judgment], str]) -> dict[str, Group]:
    members: dict[str, list[Judgment]] = defaultdict(list)
    for item in judgments:
        members[name(item)].append(item)
    return {
        key: Group(n=len(items), accuracy=fmean(i.correct for i in items), sesr=fmean(i.strong for i in items))
        for key, items in sorted(members.items())
    }


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _bounds(drawn: Mapping[str, Interval]) -> dict[str, Bounds]:
    return {name: (item.low, item.high) for name, item in drawn.items()}
