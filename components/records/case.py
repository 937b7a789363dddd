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


class Family(StrEnum):
    """The question that an error answers wrongly (EviScene's taxonomy: three families of four types)."""

    EVENT_AND_RELATION = "event_and_relation"
    """What happened, and between whom."""
    ATTRIBUTE_AND_DETAIL = "attribute_and_detail"
    """Whether the visible details hold."""
    CONTEXT = "context"
    """Whether time, place and source are right."""


class ErrorType(StrEnum):
    """How a refuted picture departs from the documented event (EviScene's taxonomy)."""

    INVENTED_ACTION = "invented_action"
    """The host does not do what is shown."""
    INVENTED_INTERACTION = "invented_interaction"
    """The second person shown is not the one who met the host."""
    IMPOSSIBLE_STATE = "impossible_state"
    """The sky shown is not the sky of the day."""
    FALSE_OFFICIAL_RECORD = "false_official_record"
    """The printed number of visitors is not the recorded one."""
    NUMERICAL_ALTERATION = "numerical_alteration"
    """The number of objects shown is not the documented number."""
    IDENTITY_SUBSTITUTION = "identity_substitution"
    """The person shown is not the person who was there."""
    SPATIAL_ALTERATION = "spatial_alteration"
    """The host stands on the other side."""
    TEXT_OR_MARK_ALTERATION = "text_or_mark_alteration"
    """The motto shown is not the motto of the event."""
    TEMPORAL_DISPLACEMENT = "temporal_displacement"
    """The date shown is not the date of the event."""
    EVENT_RECONTEXTUALIZATION = "event_recontextualization"
    """An older event's picture, circulated as this one's."""
    SOURCE_IMPERSONATION = "source_impersonation"
    """The source printed is not the event's own."""
    GEOGRAPHIC_DISPLACEMENT = "geographic_displacement"
    """The place shown is not the place of the event."""

    @property
    def family(self) -> Family:
        """The family that the type belongs to."""
        return tuple(Family)[tuple(ErrorType).index(self) // 4]


class Attribute(StrEnum):
    """A checkable detail of a pictured event."""

    DATE = "date"
    VENUE = "venue"
    HOST = "host"
    COUNT = "count"
    ACTION = "action"
    """What the host does."""
    GUEST = "guest"
    """Who met the host."""
    SKY = "sky"
    VISITORS = "visitors"
    """The official figure."""
    SIDE = "side"
    """Where the host stands."""
    MOTTO = "motto"
    SOURCE = "source"
    """Whose picture it says to be."""
    PHOTO = "photo"
    """The year of the event that the picture was taken at."""


DECISIVE_ATTRIBUTE: dict[ErrorType, Attribute] = {
    ErrorType.INVENTED_ACTION: Attribute.ACTION,
    ErrorType.INVENTED_INTERACTION: Attribute.GUEST,
    ErrorType.IMPOSSIBLE_STATE: Attribute.SKY,
    ErrorType.FALSE_OFFICIAL_RECORD: Attribute.VISITORS,
    ErrorType.NUMERICAL_ALTERATION: Attribute.COUNT,
    ErrorType.IDENTITY_SUBSTITUTION: Attribute.HOST,
    ErrorType.SPATIAL_ALTERATION: Attribute.SIDE,
    ErrorType.TEXT_OR_MARK_ALTERATION: Attribute.MOTTO,
    ErrorType.TEMPORAL_DISPLACEMENT: Attribute.DATE,
    ErrorType.EVENT_RECONTEXTUALIZATION: Attribute.PHOTO,
    ErrorType.SOURCE_IMPERSONATION: Attribute.SOURCE,
    ErrorType.GEOGRAPHIC_DISPLACEMENT: Attribute.VENUE,
}
"""The one attribute in which a refuted picture of each type differs from the record."""


class Route(StrEnum):
    """How a picture was acquired (EviScene: two routes)."""

    CONSTRUCTED = "constructed"
    """Drawn for the benchmark."""
    WEB = "web"
    """Collected where it circulates; its source was recovered."""


class Construction(StrEnum):
    """What a constructed picture starts from."""

    PROTOTYPE = "prototype"
    """A photographed event: the picture is that photograph's scene, rendered faithfully or with one altered detail."""
    FABRICATION = "fabrication"
    """An event that nobody photographed: real people at a real place in an invented scene."""


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


class ExpertReview(Record):
    """How a record came through the review of the candidates."""

    scripted: bool
    """Whether programs decided, standing in for people."""
    adjudicated: bool
    """Whether the two reviewers disagreed and a third settled it."""
    edited: tuple[str, ...] = ()
    """What was changed, by the names of the fields that reviewers saw; empty for a record taken as it was."""


class WebSource(Record):
    """Where a picture was collected, and how its event was recognised."""

    post_url: str
    image_url: str
    posted: str
    """ISO date."""
    recovered_by: str
    """What led to the record of the event: `title`, a search for the printed one, or `picture`, a reverse search."""

    @property
    def addresses(self) -> tuple[str, str]:
        """What no investigation of the case may open."""
        return self.post_url, self.image_url


class Provenance(Record):
    """How the evidence of a case was found. Private."""

    queries: tuple[str, ...]
    """What was searched for, in order."""
    pages: tuple[str, ...]
    """Addresses that were opened, in order."""
    tool_calls: int
    source: WebSource | None = None
    """None for a picture that was constructed."""


class Gold(Record):
    """The private answer of one case. Only judges, reviewers and reports may load it."""

    case_id: str
    candidate_id: str = ""
    """Of what was drawn, before it was a case: a digest that no public file holds. Empty for an imported case."""
    factual_status: Verdict
    target_claim: str
    acceptable_evidence: tuple[Evidence, ...]
    checks: tuple[Check, ...]
    """Every attribute that picture and record both show, of which exactly one does not hold in a refuted case. Empty
    for an imported case, whose verdict alone can be judged."""
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
    route: str = Route.CONSTRUCTED
    """How the picture was acquired, one of `Route`; `imported` for an imported case."""
    construction: Construction | None = None
    """None for a picture that was collected or imported."""
    image_origin: str = "rendered"
    explanation: str = ""
    """Why the label is what it is, in sentences; empty for a candidate and for an imported case."""
    review: ExpertReview | None = None
    """None for what was not reviewed: a candidate, an imported case."""
    provenance: Provenance | None = None
    """None for an imported case."""
