"""What follows from a judge's assessment: what keeps an episode out, and what is only noted (EviScene's admission)."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from components.evaluation.assessment import (
    SUPPORT_OF,
    Assessment,
    Overclaiming,
    RetrievalQuality,
    TargetScope,
    TrajectoryConduct,
)
from components.evaluation.findings import Finding
from components.records.admission import Gate
from components.records.case import Gold, Verdict
from components.records.episode import Episode, FailureClass
from components.tools.base import LEAD_TOOLS

RETRIEVAL_TOOLS = LEAD_TOOLS | {"visit", "compare_with_reference"}
"""The tools that search, read and compare."""


class JudgeCode(StrEnum):
    """What follows from an assessment. The last four are only noted."""

    UNKNOWN_OBSERVATION = "unknown_observation"
    FAILED_OBSERVATION = "failed_observation"
    UNRELATED_FACT = "unrelated_fact"
    RELATED_BUT_INCOMPLETE = "related_but_incomplete"
    SCOPE_NOT_MET = "scope_not_met"
    MAJOR_OVERCLAIMING = "major_overclaiming"
    POOR_RETRIEVAL = "poor_retrieval"
    ONLY_EMPTY_SEARCHES = "only_empty_searches"
    NOT_SUPPORTED = "not_supported"
    NO_DECISIVE_OBSERVATION = "no_decisive_observation"
    DEGRADED_REPETITION = "degraded_repetition"
    UNRESOLVED = "unresolved"
    UNCLEAR_SCOPE = "unclear_scope"
    MIXED_RETRIEVAL = "mixed_retrieval"
    MINOR_OVERCLAIMING = "minor_overclaiming"
    DECISIVE_NOT_CITED = "decisive_not_cited"


_SENTENCES = {
    JudgeCode.UNKNOWN_OBSERVATION: "The judge names an observation that the episode does not hold.",
    JudgeCode.FAILED_OBSERVATION: "The judge rests on an observation that is an error.",
    JudgeCode.UNRELATED_FACT: "The report is about something else.",
    JudgeCode.RELATED_BUT_INCOMPLETE: "The report leaves out what settles the verdict.",
    JudgeCode.SCOPE_NOT_MET: "Neither the target nor a decisive part of it is established.",
    JudgeCode.MAJOR_OVERCLAIMING: "The report contradicts itself, the picture or the record.",
    JudgeCode.POOR_RETRIEVAL: "Nothing that was retrieved carries the report.",
    JudgeCode.ONLY_EMPTY_SEARCHES: "The picture is to be refuted by searches that found nothing.",
    JudgeCode.NOT_SUPPORTED: "The evidence does not carry the right verdict.",
    JudgeCode.NO_DECISIVE_OBSERVATION: "No observation settles the verdict.",
    JudgeCode.DEGRADED_REPETITION: "Too much failed or was refused, or the same again and again.",
    JudgeCode.UNRESOLVED: "The investigation ended where something had just broken.",
    JudgeCode.UNCLEAR_SCOPE: "It is unclear what the report is about.",
    JudgeCode.MIXED_RETRIEVAL: "Some of what was retrieved led nowhere.",
    JudgeCode.MINOR_OVERCLAIMING: "Something that does not settle the verdict is said without evidence.",
    JudgeCode.DECISIVE_NOT_CITED: "An observation is decisive that the report does not cite.",
}


def judged(found: Assessment, episode: Episode, gold: Gold) -> Iterator[Finding]:
    """What follows from an assessment, first what keeps the episode out; an assessment may come from anywhere."""
    for code in (*_rests_on_nothing(found, episode), *_falls_short(found, episode, gold), *_misconduct(found)):
        yield Finding(gate=Gate.JUDGE, code=code.value, fatal=True, sentence=_SENTENCES[code])
    for code in _noted(found, episode):
        yield Finding(gate=Gate.JUDGE, code=code.value, fatal=False, sentence=_SENTENCES[code])


def _rests_on_nothing(found: Assessment, episode: Episode) -> Iterator[JudgeCode]:
    by_id = {item.observation_id: item for item in episode.observations}
    if any(name not in by_id for name in found.named):
        yield JudgeCode.UNKNOWN_OBSERVATION
    if any(name in by_id and not by_id[name].succeeded for name in found.named):
        yield JudgeCode.FAILED_OBSERVATION


def _falls_short(found: Assessment, episode: Episode, gold: Gold) -> Iterator[JudgeCode]:
    match found.target_scope:
        case TargetScope.UNRELATED_FACT:
            yield JudgeCode.UNRELATED_FACT
        case TargetScope.RELATED_BUT_INCOMPLETE:
            yield JudgeCode.RELATED_BUT_INCOMPLETE
        case TargetScope.UNCLEAR:
            yield JudgeCode.SCOPE_NOT_MET
    if found.overclaiming is Overclaiming.MAJOR:
        yield JudgeCode.MAJOR_OVERCLAIMING
    if found.retrieval_quality is RetrievalQuality.POOR:
        yield JudgeCode.POOR_RETRIEVAL
    if gold.factual_status is Verdict.REFUTED and _only_empty_searches(episode):
        yield JudgeCode.ONLY_EMPTY_SEARCHES
    if found.decision_support is not SUPPORT_OF[gold.factual_status]:
        yield JudgeCode.NOT_SUPPORTED
    if not found.decisive_observation_ids:
        yield JudgeCode.NO_DECISIVE_OBSERVATION


def _misconduct(found: Assessment) -> Sequence[JudgeCode]:
    codes = {
        TrajectoryConduct.DEGRADED_REPETITION: JudgeCode.DEGRADED_REPETITION,
        TrajectoryConduct.UNRESOLVED: JudgeCode.UNRESOLVED,
    }
    return [codes[found.trajectory_conduct]] if found.trajectory_conduct in codes else []


def _noted(found: Assessment, episode: Episode) -> Iterator[JudgeCode]:
    cited = episode.report.cited if episode.report else ()
    if found.target_scope is TargetScope.UNCLEAR:
        yield JudgeCode.UNCLEAR_SCOPE
    if found.retrieval_quality is RetrievalQuality.MIXED:
        yield JudgeCode.MIXED_RETRIEVAL
    if found.overclaiming is Overclaiming.MINOR:
        yield JudgeCode.MINOR_OVERCLAIMING
    if any(name not in cited for name in found.decisive_observation_ids):
        yield JudgeCode.DECISIVE_NOT_CITED


def _only_empty_searches(episode: Episode) -> bool:
    """Whether everything that was retrieved is that there is nothing."""
    found = [item for item in episode.observations if item.tool in RETRIEVAL_TOOLS]
    return bool(found) and all(item.failure is FailureClass.EMPTY_RESULT for item in found)
