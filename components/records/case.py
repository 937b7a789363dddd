"""A case is what an investigation may see; a gold record is what only the judge may see.

The two are different types in different files, and are loaded by different code.
"""

from enum import StrEnum

from components.records.base import Record


class Verdict(StrEnum):
    """Whether the pictured situation holds."""

    SUPPORTED = "supported"
    """The documented facts agree with what the picture shows."""
    REFUTED = "refuted"
    """At least one documented fact contradicts what the picture shows."""


class Split(StrEnum):
    """Which part of a benchmark a case belongs to; no event, face or page occurs in both."""

    TRAIN = "train"
    TEST = "test"


class ErrorType(StrEnum):
    """How a refuted picture departs from the documented event (EviScene, section 2 of its taxonomy)."""

    TEMPORAL_DISPLACEMENT = "temporal_displacement"
    """The date shown is not the date of the event."""
    GEOGRAPHIC_DISPLACEMENT = "geographic_displacement"
    """The place shown is not the place of the event."""
    IDENTITY_SUBSTITUTION = "identity_substitution"
    """The person shown is not the person who was there."""
    NUMERICAL_ALTERATION = "numerical_alteration"
    """The number of objects shown is not the documented number."""


class Attribute(StrEnum):
    """A checkable detail of a pictured event."""

    DATE = "date"
    VENUE = "venue"
    HOST = "host"
    COUNT = "count"


DECISIVE_ATTRIBUTE: dict[ErrorType, Attribute] = {
    ErrorType.TEMPORAL_DISPLACEMENT: Attribute.DATE,
    ErrorType.GEOGRAPHIC_DISPLACEMENT: Attribute.VENUE,
    ErrorType.IDENTITY_SUBSTITUTION: Attribute.HOST,
    ErrorType.NUMERICAL_ALTERATION: Attribute.COUNT,
}
"""The one attribute in which a refuted picture of each type differs from the record."""


class Case(Record):
    """The public row of a benchmark: exactly what an investigation starts from."""

    case_id: str
    image_path: str
    """A name by content, `assets/sha256/..`, and no file's: the image bank finds the picture by its hash. It carries no
    hint of the answer."""
    image_sha256: str
    """Of the image file's bytes, hexadecimal."""


class Evidence(Record):
    """A documented fact: where it stands and in which words."""

    source_id: str
    canonical_url: str
    exact_span: str
    """Occurs literally in the text of the page at `canonical_url`."""
    stance: str
    """`supports` or `refutes`: how the span bears on the pictured situation."""


class Check(Record):
    """One attribute as pictured and as documented."""

    attribute: Attribute
    depicted: str
    """As it stands in the picture: "12 March 2031", "Rowan Hall", a person's name, or "9"."""
    documented: str
    """As it stands in the record, in the same form."""

    @property
    def holds(self) -> bool:
        """Whether picture and record agree."""
        return self.depicted == self.documented


class Gold(Record):
    """The private answer of one case. Only judges, reviewers and reports may load it."""

    case_id: str
    factual_status: Verdict
    target_claim: str
    acceptable_evidence: tuple[Evidence, ...]
    checks: tuple[Check, ...]
    """All four attributes, of which exactly one does not hold in a refuted case. Empty for an imported case, whose
    verdict alone can be judged."""
    object_kind: str
    """What is to be counted, singular: "lantern"; empty for an imported case."""
    error_type: ErrorType | None = None
    """None for a supported case, and for a refuted one that was imported without it."""
    event_id: str
    event_title: str
    person_ids: tuple[str, ...]
    """Everyone whose face is in the picture or in the record of the event."""
    official_urls: tuple[str, ...]
    """Pages that document the event."""
    style: str
    """The generator style the picture was drawn in."""
    route: str = "constructed"
    image_origin: str = "rendered"
