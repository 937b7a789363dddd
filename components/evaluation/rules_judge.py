"""The deterministic judge: an episode's own record against the private answer, rule by rule.

It follows EviScene's rubric: the verdict is compared by code, and `strong` asks for a decisive justification that the
stored observations really support. It reads stored text only, so equal episodes are always judged alike.
"""

from collections.abc import Sequence

from components.evaluation import grounds
from components.evaluation.explanation import Claim, folded, parse_explanation
from components.evaluation.judgment import Judgment, Quality, Reason
from components.records.case import Attribute, Check, Gold, Verdict
from components.records.episode import Episode, Observation, Report
from components.tools.base import LEAD_TOOLS

_REJECTED = frozenset(
    {
        Reason.WRONG_VERDICT,
        Reason.UNKNOWN_CITATION,
        Reason.FAILED_CITATION,
        Reason.CONTRADICTORY,
        Reason.FALSE_DIFFERENCE,
    }
)
RuleFinding = tuple[Reason, str]
"""The rule that is not met, and a sentence about it."""


def judge(episode: Episode | None, gold: Gold) -> Judgment:
    """Judge one episode; None, a case that was never investigated, is not auditable and keeps its place."""
    if episode is not None and episode.case.case_id != gold.case_id:
        raise ValueError(f"episode {episode.episode_id} is not about case {gold.case_id}")
    report = episode.report if episode else None
    if episode is None or report is None:
        reason = Reason.NO_EPISODE if episode is None else Reason.NO_REPORT
        ending = f"the episode ended with {episode.termination.value}" if episode else "there is no episode"
        return _judgment(gold, episode, Quality.NOT_AUDITABLE, reason, f"No report: {ending}.")
    found = _verdict(report, gold) or _citations(episode, report) or _grounds(episode, report, gold)
    if found is None:
        sentence = "The stated values occur in the cited observations, and the record bears out the verdict."
        return _judgment(gold, episode, Quality.STRONG, Reason.GROUNDED, sentence)
    reason, sentence = found
    return _judgment(gold, episode, Quality.REJECTED if reason in _REJECTED else Quality.USABLE, reason, sentence)


def _judgment(gold: Gold, episode: Episode | None, bucket: Quality, reason: Reason, sentence: str) -> Judgment:
    return Judgment(
        case_id=gold.case_id,
        episode_id=episode.episode_id if episode else None,
        gold=gold.factual_status,
        verdict=episode.report.verdict if episode and episode.report else None,
        quality_bucket=bucket,
        reason=reason,
        explanation=sentence,
    )


def _verdict(report: Report, gold: Gold) -> RuleFinding | None:
    if report.verdict is gold.factual_status:
        return None
    return Reason.WRONG_VERDICT, f"The verdict is {report.verdict.value}; the record says {gold.factual_status.value}."


def _citations(episode: Episode, report: Report) -> RuleFinding | None:
    if not report.cited:
        return Reason.NOTHING_CITED, "The report cites no observation."
    by_id = {item.observation_id: item for item in episode.observations}
    for cited in report.cited:
        if cited not in by_id:
            return Reason.UNKNOWN_CITATION, f"The report cites {cited}, which is not in the episode."
        if not by_id[cited].succeeded:
            return Reason.FAILED_CITATION, f"The report cites {cited}, which is an error."
        if by_id[cited].tool in LEAD_TOOLS:
            return Reason.CITED_A_LEAD, f"The report cites {cited}, a search result, which is no evidence by itself."
    return None


def _grounds(episode: Episode, report: Report, gold: Gold) -> RuleFinding | None:
    claims = parse_explanation(report.explanation)
    successful = [item for item in episode.observations if item.succeeded]
    cited = [item for item in successful if item.observation_id in report.cited]
    checks = {check.attribute: check for check in gold.checks}
    return (
        contradiction(claims)
        or _uncheckable(gold)
        or false_difference(claims, checks)
        or left_out(claims, gold)
        or misstated(claims, checks)
        or _unfounded(gold, cited, successful)
    )


def contradiction(claims: Sequence[Claim]) -> RuleFinding | None:
    """The first claim that contradicts itself or another one."""
    for claim in claims:
        if not claim.consistent:
            return Reason.CONTRADICTORY, f"The {claim.attribute.value} clause contradicts its own values."
        if any(other.attribute is claim.attribute and other != claim for other in claims):
            return Reason.CONTRADICTORY, f"The {claim.attribute.value} is stated twice, differently."
    return None


def _uncheckable(gold: Gold) -> RuleFinding | None:
    """Grounds that nothing can confirm are usable at most; without this they would meet every rule that follows."""
    if gold.checks:
        return None
    return Reason.NO_CHECKS, "The record names nothing to check the grounds by, so only the verdict is scored."


def false_difference(claims: Sequence[Claim], checks: dict[Attribute, Check]) -> RuleFinding | None:
    """The first attribute that is said to differ and does not."""
    for claim in claims:
        if claim.differs and claim.attribute in checks and checks[claim.attribute].holds:
            return (
                Reason.FALSE_DIFFERENCE,
                f"The {claim.attribute.value} is said to differ, but picture and record agree.",
            )
    return None


def decisive_checks(gold: Gold) -> list[Check]:
    """The checks that a report must make: all to support a picture, the failing one to refute it."""
    return [check for check in gold.checks if gold.factual_status is Verdict.SUPPORTED or not check.holds]


def left_out(claims: Sequence[Claim], gold: Gold) -> RuleFinding | None:
    """The first decisive attribute that is not stated, or is said to be the same and differs."""
    for check in decisive_checks(gold):
        stated = [claim for claim in claims if claim.attribute is check.attribute]
        if not stated:
            return Reason.NOT_STATED, f"The explanation says nothing about the {check.attribute.value}."
        if stated[0].differs is check.holds:
            return (
                Reason.MISSTATED,
                f"The {check.attribute.value} is said to be the same, but picture and record differ.",
            )
    return None


def misstated(claims: Sequence[Claim], checks: dict[Attribute, Check]) -> RuleFinding | None:
    """The first stated value that is not that of picture or record."""
    for claim in claims:
        if claim.attribute not in checks:
            return Reason.MISSTATED, f"Picture and record do not both give the {claim.attribute.value}."
        check = checks[claim.attribute]
        if claim.depicted is not None and folded(claim.depicted) != folded(check.depicted):
            return (
                Reason.MISSTATED,
                f"The {check.attribute.value} in the picture is {check.depicted}, not {claim.depicted}.",
            )
        if folded(claim.documented) != folded(check.documented):
            return (
                Reason.MISSTATED,
                f"The record gives {check.documented} as {check.attribute.value}, not {claim.documented}.",
            )
    return None


def _unfounded(gold: Gold, cited: Sequence[Observation], successful: Sequence[Observation]) -> RuleFinding | None:
    for check in decisive_checks(gold):
        if not grounds.seen(check, gold, cited, successful):
            return Reason.NOT_SEEN, f"No cited observation of the picture shows the {check.attribute.value}."
        if not grounds.documented(check, gold, cited):
            return Reason.NOT_DOCUMENTED, f"No cited page that records the event gives the {check.attribute.value}."
    return None
