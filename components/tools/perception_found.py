"""What looking at pictures and passages finds, one kind a question."""

from typing import Literal

from pydantic import Field

from components.tools import messages
from components.tools.findings import Finding, Part, Share, Where, box_text

Severity = Literal["low", "medium", "high", "unrated"]


class Attributes(Part):
    """How something looks."""

    appearance: str = ""
    role_or_action: str = ""
    spatial_context: str = ""


class Entity(Part):
    """Something in a scene."""

    name: str
    entity_type: Literal["person", "object", "building", "logo", "animal", "scene_element"]
    bbox: Where = None
    confidence: Share
    text_role: Literal[
        "scene_text", "overlay_text", "watermark", "caption", "identity_label", "claim_text", "unknown",
        "not_applicable",
    ] = "not_applicable"  # fmt: skip
    attributes: Attributes = Field(default_factory=lambda: Attributes())


class Relation(Part):
    """What two entities have to do with each other."""

    subject: str
    predicate: str
    object: str
    description: str = ""
    confidence: Share


class Scene(Finding):
    """A scene without names of people and without the wording of its texts."""

    scene_description: str = Field(min_length=1, max_length=1200)
    image_type: Literal["photo", "screenshot", "document", "illustration", "meme"]
    entities: tuple[Entity, ...] = Field((), max_length=16)
    relations: tuple[Relation, ...] = Field((), max_length=16)
    notable_details: tuple[str, ...] = Field((), max_length=16)
    uncertainties: tuple[str, ...] = Field((), max_length=8)

    @property
    def lines(self) -> list[str]:
        """`photo: what is seen`, then entity by entity."""
        return [
            f"{self.image_type}: {self.scene_description}",
            *(f"{item.entity_type} {item.name}{box_text(item.bbox)}" for item in self.entities),
            *(f"{item.subject} {item.predicate} {item.object}" for item in self.relations),
            *(f"detail: {item}" for item in self.notable_details),
            *(f"uncertain: {item}" for item in self.uncertainties),
        ]


class Spot(Part):
    """A place in the picture."""

    bbox: Where = None


class Count(Finding):
    """How many there are."""

    target: str
    count: int = Field(ge=0)
    confidence: Share | None
    details: str = ""
    locations: tuple[Spot, ...] = Field((), max_length=32)

    @property
    def lines(self) -> list[str]:
        """`lantern: 9`."""
        return [f"{self.target}: {self.count}", *([self.details] if self.details else [])]


class Seen(Part):
    """What one view shows."""

    view_index: int = Field(ge=0)
    """0 is the whole picture."""
    statement: str
    property_status: Literal["present", "absent", "uncertain"]
    confidence: Share | None


class Inspection(Finding):
    """The answer to a question about the picture."""

    answer_status: Literal["observed", "not_observed", "ambiguous"]
    summary: str = Field(min_length=1)
    observations: tuple[Seen, ...] = Field((), max_length=8)
    limitations: tuple[str, ...] = Field((), max_length=6)

    @property
    def lines(self) -> list[str]:
        """`observed: what`, then view by view."""
        return [
            f"{self.answer_status}: {self.summary}",
            *(f"view {item.view_index}: {item.statement} ({item.property_status})" for item in self.observations),
            *(f"limit: {item}" for item in self.limitations),
        ]


class CloseUp(Finding):
    """What an enlarged part shows."""

    description: str = Field(min_length=1)
    observations: tuple[str, ...] = Field((), max_length=8)
    anomalies: tuple[str, ...] = Field((), max_length=8)
    limitations: tuple[str, ...] = Field((), max_length=4)

    @property
    def lines(self) -> list[str]:
        """The description, then one thing a line."""
        return [
            self.description,
            *self.observations,
            *(f"odd: {item}" for item in self.anomalies),
            *(f"limit: {item}" for item in self.limitations),
        ]


class Inconsistency(Part):
    """Something that does not fit."""

    description: str
    severity: Severity
    bbox: Where = None


class Consistency(Finding):
    """Whether a picture fits together in one respect."""

    consistent: bool | None
    """None where it cannot be told."""
    aspect_checked: str
    details: str = Field(min_length=1)
    inconsistencies: tuple[Inconsistency, ...] = Field((), max_length=12)
    limitations: tuple[str, ...] = Field((), max_length=6)

    @property
    def lines(self) -> list[str]:
        """`lighting: consistent`, the details, then what does not fit."""
        verdict = {True: "consistent", False: "inconsistent", None: "uncertain"}[self.consistent]
        return [
            f"{self.aspect_checked}: {verdict}",
            self.details,
            *(f"{item.description} ({item.severity}){box_text(item.bbox)}" for item in self.inconsistencies),
            *(f"limit: {item}" for item in self.limitations),
        ]


class Anomaly(Part):
    """Something odd."""

    name: str
    bbox: Where = None
    phenomenon: str
    reasoning: str = ""
    severity: float | None = Field(ge=0, le=100)
    """None where it is not rated."""
    type: Literal["ai_generation", "manipulation", "physical_inconsistency", "logical_inconsistency", "unclassified"]
    entities_involved: tuple[str, ...] = Field((), max_length=8)


class Anomalies(Finding):
    """What is odd in a picture."""

    anomalies: tuple[Anomaly, ...] = Field((), max_length=12)
    overall_authenticity: Literal["authentic", "likely_ai", "likely_manipulated", "uncertain"]
    confidence: Share | None
    notes: str = ""

    @property
    def lines(self) -> list[str]:
        """`uncertain`, the notes, then anomaly by anomaly; signs of generation, which prove nothing, only counted."""
        told = [item for item in self.anomalies if item.type != "ai_generation"]
        generated = self.overall_authenticity == "likely_ai"
        return [
            messages.ORIGIN_PROVES_NOTHING if generated else self.overall_authenticity,
            # Of a picture that is taken for generated, the notes say why.
            *([self.notes] if self.notes and not generated else []),
            *(f"{item.name}: {item.phenomenon}{box_text(item.bbox)}" for item in told),
            *(
                [messages.signs_of_generation(len(self.anomalies) - len(told))]
                if len(told) < len(self.anomalies)
                else []
            ),
        ]


class Difference(Part):
    """How a reference differs from the picture."""

    region: str
    description: str
    type: Literal[
        "crop", "color_adjust", "watermark", "perspective", "lighting", "compression", "occlusion", "addition",
        "removal", "modification", "different_capture", "unrelated_content", "uncertain",
    ]  # fmt: skip
    significance: Literal["low", "medium", "high"]


class ReferenceComparison(Finding):
    """What a picture and a reference have in common."""

    same_subject_or_scene: bool | None
    same_capture_or_near_duplicate: bool | None
    likely_different_original_capture: bool | None
    edit_evidence_present: bool = False
    """Only from what was added, removed or modified."""
    edit_evidence_strength: Literal["none", "weak", "moderate", "strong"] = "none"
    differences: tuple[Difference, ...] = Field((), max_length=20)
    overall_observation: str = Field(min_length=1, max_length=1200)
    confidence: Share | None
    comparison_status: Literal["compared", "not_comparable", "unrelated_candidate", "invalid_reference"]
    comparison_method: str = "model"
    """`deterministic_exact_pixels` where no eye was needed."""

    @property
    def comparable(self) -> bool:
        """Whether the comparison may be cited."""
        return self.comparison_status == "compared"

    @property
    def lines(self) -> list[str]:
        """The observation, then difference by difference."""
        told = (f"{item.type} ({item.region}): {item.description}" for item in self.differences)
        return [self.overall_observation, *told]


class Extraction(Finding):
    """Which passages of a page answer a question; the passages themselves are copied by code, word by word."""

    rationale: str
    passage_id: int
    """-1 where none does."""
    supporting_passage_ids: tuple[int, ...] = Field((), max_length=2)
    summary: str
    relevance: Literal["high", "medium", "low", "unclear"]
    relation_scope: Literal["same_relation", "partial_relation", "different_instance", "unclear"]
    relation_stance: Literal["supports", "contradicts", "background", "unclear"]
    directness: Literal["direct", "indirect", "none", "unclear"]
    temporal_alignment: Literal["before_or_at_cutoff", "after_cutoff", "unknown", "not_applicable"]

    @property
    def lines(self) -> list[str]:
        """How the passages bear on the question, in a model's words: for the record, a policy reads the passages."""
        return [self.summary]


class SearchWords(Finding):
    """A query that describes a picture."""

    query: str = Field(min_length=1, max_length=240)

    @property
    def lines(self) -> list[str]:
        """The query."""
        return [self.query]
