"""What a judge says about an episode that is to be learned from (EviScene's admission).

Whoever judges fills the same record, rules or a language model; what follows from it is decided in `judged.py`.
"""

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field, ValidationInfo, model_validator

from components.records.base import Record
from components.records.case import Verdict
from components.records.episode import Episode

KNOWN = "known_observations"
"""In a validation context: the ids that an assessment may name."""
Ids = Annotated[tuple[str, ...], Field(max_length=40)]


class TargetScope(StrEnum):
    """What the report is about, measured by what the case is about."""

    DIRECT_TARGET = "direct_target"
    """The whole pictured situation."""
    DECISIVE_SUBFACT = "decisive_subfact"
    """A part of it that settles the verdict."""
    RELATED_BUT_INCOMPLETE = "related_but_incomplete"
    """A part of it that does not."""
    UNRELATED_FACT = "unrelated_fact"
    """Something else."""
    UNCLEAR = "unclear"


class DecisionSupport(StrEnum):
    """Which verdict the cited evidence carries, whatever the report says."""

    SUPPORTS_SUPPORTED = "supports_supported"
    SUPPORTS_REFUTED = "supports_refuted"
    SUPPORTING_ONLY = "supporting_only"
    """It bears on the verdict and does not settle it."""
    INSUFFICIENT = "insufficient"
    UNCLEAR = "unclear"


SUPPORT_OF = {
    Verdict.SUPPORTED: DecisionSupport.SUPPORTS_SUPPORTED,
    Verdict.REFUTED: DecisionSupport.SUPPORTS_REFUTED,
}
"""The support that each verdict needs."""


class RetrievalQuality(StrEnum):
    """What searching and reading came to."""

    EFFECTIVE = "effective"
    MIXED = "mixed"
    """Some of it led nowhere."""
    POOR = "poor"
    """Nothing that was retrieved carries the report."""


class Overclaiming(StrEnum):
    """How far the report goes beyond its evidence."""

    NONE = "none"
    MINOR = "minor"
    """In what does not settle the verdict."""
    MAJOR = "major"
    """It contradicts itself, the picture or the record."""


class TrajectoryConduct(StrEnum):
    """How the investigation went."""

    CLEAN = "clean"
    RECOVERED_MINOR = "recovered_minor"
    """A few failures and refusals, each followed by something better."""
    DEGRADED_REPETITION = "degraded_repetition"
    """Too many of them, or the same one again and again."""
    UNRESOLVED = "unresolved"
    """It ended where something had just broken."""


class Assessment(Record):
    """One judged episode. `read_assessment` also refuses ids that the episode does not hold."""

    producer: str
    """Who judged: `rules`, or a model by name."""
    target_scope: TargetScope
    decision_support: DecisionSupport
    retrieval_quality: RetrievalQuality
    decisive_observation_ids: Ids
    """Observations that settle the verdict."""
    supporting_observation_ids: Ids
    """Observations that bear on it besides."""
    overclaiming: Overclaiming
    trajectory_conduct: TrajectoryConduct
    explanation: Annotated[str, Field(max_length=1600)]

    @property
    def named(self) -> tuple[str, ...]:
        """Every observation that it names."""
        return (*self.decisive_observation_ids, *self.supporting_observation_ids)

    @model_validator(mode="after")
    def _names_known_ones_once(self, info: ValidationInfo) -> Self:
        if len(set(self.named)) != len(self.named):
            raise ValueError("an observation is named twice")
        known = (info.context or {}).get(KNOWN)
        unknown = [] if known is None else [name for name in self.named if name not in known]
        if unknown:
            raise ValueError(f"the episode has no observation {', '.join(unknown)}")
        return self


def read_assessment(fields: dict[str, Any], episode: Episode) -> Assessment:
    """An assessment of this very episode.

    Raises:
        ValidationError: a field is missing, surplus or has none of its values, or an observation is named that is
            not in the episode.

    """
    known = frozenset(item.observation_id for item in episode.observations)
    return Assessment.model_validate(fields, context={KNOWN: known})
