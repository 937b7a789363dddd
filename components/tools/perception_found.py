"""What looking at pictures and passages finds: typed, and bounded whoever looked.

A list or a text beyond its bound is cut, and the result says which. Text that gives orders is withheld, since a picture
may have such a text on it and a model may repeat it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import MaxLen
from pydantic import BaseModel, ConfigDict, Field, model_validator

from components.tools import messages
from components.tools.instructions import instruction_in

MOST_TEXT = 4000
"""Characters of a result that a policy reads."""
_LINE = 400
"""Characters of a text that has no bound of its own."""

Share = Annotated[float, Field(ge=0, le=1)]
Where = Annotated[tuple[float, ...], Field(min_length=4, max_length=4)] | None
"""x1, y1, x2, y2 as shares of width and height; None where a box could not be told."""
Severity = Literal["low", "medium", "high", "unrated"]


class Part(BaseModel):
    """A part of a result."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _within_bounds(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            return raw
        bounds = {name: _bound(field.metadata) for name, field in cls.model_fields.items()}
        values = {name: _bounded(value, bounds[name]) if name in bounds else value for name, value in raw.items()}
        if "cut" in cls.model_fields:
            long = (name for name, value in raw.items() if _is_long(value, bounds.get(name)))
            values["cut"] = tuple(dict.fromkeys((*raw.get("cut", ()), *long)))
        return values


class Finding(Part):
    """A result."""

    OWN: ClassVar[frozenset[str]] = frozenset({"measured", "cut", "warnings", "comparison_method"})
    """Fields that code fills and no model is asked for."""

    measured: dict[str, Any] = {}
    """In the place of everything else where pixels were measured: the values themselves."""
    cut: tuple[str, ...] = ()
    """Fields that were longer than they may be."""
    warnings: tuple[str, ...] = ()
    """What was dropped."""

    @property
    def payload(self) -> dict[str, Any]:
        """The result as JSON values."""
        return self.measured or self.model_dump(mode="json", exclude={"measured"})

    @property
    def text(self) -> str:
        """What a policy reads."""
        return bounded(self.lines)

    @property
    def lines(self) -> Sequence[str]:
        """The text, line by line."""
        raise NotImplementedError


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

    scene_description: str = Field(max_length=1200)
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
    summary: str
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

    description: str
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
    details: str
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
        """`uncertain`, the notes, then anomaly by anomaly."""
        return [
            self.overall_authenticity,
            *([self.notes] if self.notes else []),
            *(f"{item.name}: {item.phenomenon}{box_text(item.bbox)}" for item in self.anomalies),
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
    overall_observation: str = Field(max_length=1200)
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


def bounded(lines: Iterable[str], most: int = MOST_TEXT) -> str:
    """Lines up to so many characters, and how many more there were."""
    kept: list[str] = []
    everything = list(lines)
    room = most
    for line in everything:
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, messages.more_lines(len(everything) - len(kept))])
        kept.append(line)
    return "\n".join(kept)


def box_text(box: Where) -> str:
    """A box as tools take it, in brackets; empty for none."""
    return "" if box is None else f" [{','.join(f'{side:.3g}' for side in box)}]"


def _bound(metadata: Sequence[Any]) -> int | None:
    return next((item.max_length for item in metadata if isinstance(item, MaxLen)), None)


def _is_long(value: Any, bound: int | None) -> bool:
    return isinstance(value, str | list | tuple) and len(value) > (bound or (_LINE if isinstance(value, str) else 99))


def _bounded(value: Any, bound: int | None) -> Any:
    """A text on one line and within its bound, or withheld; a list within its bound."""
    if isinstance(value, str):
        line = " ".join(value.split())[: bound or _LINE]
        return messages.TEXT_WITHHELD if instruction_in(line) else line
    if isinstance(value, list | tuple):
        items = list(value)[: bound or len(value)]
        return [_bounded(item, None) if isinstance(item, str) else item for item in items]
    return value
