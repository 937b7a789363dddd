"""What a judge says about one episode."""

from enum import StrEnum

from components.records.base import Record
from components.records.case import Verdict


class Quality(StrEnum):
    """How well a report's grounds carry its verdict."""

    STRONG = "strong"
    """Right verdict on decisive, grounded evidence: the only bucket that SESR counts."""
    USABLE = "usable"
    """Right verdict, partial grounds."""
    REJECTED = "rejected"
    """Wrong verdict, or grounds that are contradictory or invented."""
    NOT_AUDITABLE = "not_auditable"
    """There is no report to judge."""


class Reason(StrEnum):
    """The first rule that an episode did not meet, in the order in which the rules are applied."""

    GROUNDED = "grounded"
    """Every rule is met."""
    NO_EPISODE = "no_episode"
    NO_REPORT = "no_report"
    WRONG_VERDICT = "wrong_verdict"
    NOTHING_CITED = "nothing_cited"
    UNKNOWN_CITATION = "unknown_citation"
    """An observation is cited that the episode does not hold."""
    FAILED_CITATION = "failed_citation"
    """An observation is cited that is an error."""
    CITED_A_LEAD = "cited_a_lead"
    """A search result is cited; results lead to evidence and are none."""
    CONTRADICTORY = "contradictory"
    """Equal values are said to differ, different ones to be the same, or one attribute has two readings."""
    NO_CHECKS = "no_checks"
    """The private record says nothing to check grounds by, as that of an imported case; only the verdict is scored."""
    FALSE_DIFFERENCE = "false_difference"
    """An attribute is said to differ that does not."""
    NOT_STATED = "not_stated"
    """The explanation leaves out the decisive attribute, or for `supported` any attribute."""
    MISSTATED = "misstated"
    """A stated value is not the one in the picture or in the record."""
    NOT_SEEN = "not_seen"
    """No cited observation of the picture shows the depicted value."""
    NOT_DOCUMENTED = "not_documented"
    """No cited page that records the event contains the documented value."""


class Judgment(Record):
    """One judged episode, or a case without one."""

    case_id: str
    episode_id: str | None
    gold: Verdict
    verdict: Verdict | None
    quality_bucket: Quality
    reason: Reason
    explanation: str
    """One sentence for a reader."""

    @property
    def correct(self) -> bool:
        """Whether the verdict is right, whatever its grounds."""
        return self.verdict is self.gold

    @property
    def strong(self) -> bool:
        """Whether SESR counts the case."""
        return self.quality_bucket is Quality.STRONG
