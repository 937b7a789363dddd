"""The deterministic assessor: the rules of `rules_judge` as an assessment, from an episode's record and its gold.

It reads stored text only, so equal episodes are assessed alike. The evidence is looked at without regard to the
report's verdict, which is compared by another gate.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from components.evaluation import grounds
from components.evaluation.assessment import (
    SUPPORT_OF,
    Assessment,
    DecisionSupport,
    Overclaiming,
    RetrievalQuality,
    TargetScope,
    TrajectoryConduct,
)
from components.evaluation.explanation import Claim, parse_explanation
from components.evaluation.judged import RETRIEVAL_TOOLS
from components.evaluation.judgment import Reason
from components.evaluation.masking import is_fault
from components.evaluation.rules_judge import (
    contradiction,
    decisive_checks,
    false_difference,
    judge,
    left_out,
    misstated,
)
from components.records.case import Check, Gold
from components.records.episode import Episode, FailureClass, Observation, StepKind
from components.tools.base import LEAD_TOOLS

PRODUCER = "rules"
MAX_FAULTS = 3
"""An episode with more errors and corrections than this is no example of good conduct."""
MAX_SAME = 2
"""The same refusal more often than this is repetition."""


class _Evidence(NamedTuple):
    """What a report rests on."""

    claims: tuple[Claim, ...]
    cited: tuple[Observation, ...]
    successful: tuple[Observation, ...]
    gold: Gold

    def seen(self, check: Check, cited: Sequence[Observation]) -> bool:
        return grounds.seen(check, self.gold, cited, self.successful)

    def documented(self, check: Check, cited: Sequence[Observation]) -> bool:
        return grounds.documented(check, self.gold, cited)

    def carries(self, check: Check) -> bool:
        return self.seen(check, self.cited) and self.documented(check, self.cited)


def assess(episode: Episode, gold: Gold) -> Assessment:
    """Assess an episode that has a report and whose citations are evidence; raises ValueError without a report."""
    if episode.report is None:
        raise ValueError(f"episode {episode.episode_id} has no report to assess")
    successful = tuple(item for item in episode.observations if item.succeeded)
    cited = tuple(item for item in successful if item.observation_id in episode.report.cited)
    evidence = _Evidence(parse_explanation(episode.report.explanation), cited, successful, gold)
    settling = {item.observation_id for item in _decisive(evidence)}
    return Assessment(
        producer=PRODUCER,
        target_scope=_scope(evidence),
        decision_support=_support(evidence),
        retrieval_quality=_retrieval(episode, cited),
        decisive_observation_ids=tuple(i.observation_id for i in cited if i.observation_id in settling),
        supporting_observation_ids=tuple(i.observation_id for i in cited if i.observation_id not in settling),
        overclaiming=_overclaiming(evidence),
        trajectory_conduct=_conduct(episode),
        explanation=judge(episode, gold).explanation,
    )


def _scope(evidence: _Evidence) -> TargetScope:
    checks = {check.attribute for check in evidence.gold.checks}
    stated = {claim.attribute for claim in evidence.claims}
    if not checks:
        return TargetScope.UNCLEAR
    if checks <= stated:
        return TargetScope.DIRECT_TARGET
    if {check.attribute for check in decisive_checks(evidence.gold)} <= stated:
        return TargetScope.DECISIVE_SUBFACT
    return TargetScope.RELATED_BUT_INCOMPLETE if checks & stated else TargetScope.UNRELATED_FACT


def _support(evidence: _Evidence) -> DecisionSupport:
    decisive = decisive_checks(evidence.gold)
    if not decisive:
        return DecisionSupport.UNCLEAR
    if all(map(evidence.carries, decisive)):
        return SUPPORT_OF[evidence.gold.factual_status]
    partly = any(evidence.seen(item, evidence.cited) or evidence.documented(item, evidence.cited) for item in decisive)
    return DecisionSupport.SUPPORTING_ONLY if partly else DecisionSupport.INSUFFICIENT


def _decisive(evidence: _Evidence) -> list[Observation]:
    """The cited observations that what settles the verdict rests on."""
    found: list[Observation] = []
    for check in decisive_checks(evidence.gold):
        for shows in (evidence.seen, evidence.documented):
            found += _needed(check, evidence.cited, shows)
    return found


def _needed(
    check: Check, cited: Sequence[Observation], shows: Callable[[Check, Sequence[Observation]], bool]
) -> list[Observation]:
    """Those that show it alone; where only several together do, those that cannot be done without."""
    if not shows(check, cited):
        return []
    alone = [item for item in cited if shows(check, [item])]
    return alone or [item for item in cited if not shows(check, [other for other in cited if other is not item])]


def _overclaiming(evidence: _Evidence) -> Overclaiming:
    checks = {check.attribute: check for check in evidence.gold.checks}
    missing = left_out(evidence.claims, evidence.gold)
    same = missing is not None and missing[0] is Reason.MISSTATED
    wrong = contradiction(evidence.claims) or (checks and false_difference(evidence.claims, checks))
    if wrong or (checks and (same or misstated(evidence.claims, checks))):
        return Overclaiming.MAJOR
    stated = (checks[claim.attribute] for claim in evidence.claims if claim.attribute in checks)
    return Overclaiming.NONE if all(map(evidence.carries, stated)) else Overclaiming.MINOR


def _retrieval(episode: Episode, cited: Sequence[Observation]) -> RetrievalQuality:
    """Poor when no page or comparison is cited, mixed when a search, page or comparison was in vain."""
    if not any(item.tool in RETRIEVAL_TOOLS for item in cited):
        return RetrievalQuality.POOR
    return RetrievalQuality.MIXED if any(_in_vain(episode, cited)) else RetrievalQuality.EFFECTIVE


def _in_vain(episode: Episode, cited: Sequence[Observation]) -> Iterator[bool]:
    for item in episode.observations:
        if item.tool in RETRIEVAL_TOOLS:
            yield not item.succeeded or (item.tool not in LEAD_TOOLS and item not in cited)


def _conduct(episode: Episode) -> TrajectoryConduct:
    faults = [step for step in episode.steps if is_fault(step)]
    refused = Counter((step.feedback, step.call) for step in faults if step.kind is StepKind.CORRECTION and step.call)
    if len(faults) > MAX_FAULTS or max(refused.values(), default=0) > MAX_SAME:
        return TrajectoryConduct.DEGRADED_REPETITION
    if episode.observations and episode.observations[-1].failure is FailureClass.INFRASTRUCTURE:
        return TrajectoryConduct.UNRESOLVED
    return TrajectoryConduct.RECOVERED_MINOR if faults else TrajectoryConduct.CLEAN
