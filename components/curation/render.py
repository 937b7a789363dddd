"""From a planned case to its picture and its gold record."""

import random
from dataclasses import dataclass, replace

from PIL import Image

from components.config.schema import WorldParams
from components.curation.plan import CasePlan
from components.records.case import Attribute, Check, ErrorType, Evidence, Gold, Verdict
from components.records.kinds import counted
from components.world.draw import Scene, draw_scene, encode_png
from components.world.entities import Event, Facts, Person
from components.world.styles import STYLES_BY_SPLIT

_SENTENCE: dict[Attribute, int] = {Attribute.DATE: 0, Attribute.VENUE: 0, Attribute.HOST: 1, Attribute.COUNT: 2}
"""Which sentence of the official record documents an attribute."""


@dataclass(frozen=True)
class Depicted:
    """What a picture shows."""

    date: str
    venue: str
    host: Person
    count: int

    def as_printed(self, attribute: Attribute) -> str:
        """An attribute in the form that pages use."""
        values = {
            Attribute.DATE: self.date,
            Attribute.VENUE: self.venue,
            Attribute.HOST: self.host.name,
            Attribute.COUNT: str(self.count),
        }
        return values[attribute]


@dataclass(frozen=True)
class Candidate:
    """A drawn case that has not been screened yet."""

    plan: CasePlan
    scene: Scene
    depicted: Depicted
    documented: Depicted
    image: Image.Image
    data: bytes
    """The PNG file."""


def render(plan: CasePlan, attempt: int, facts: Facts, params: WorldParams) -> Candidate:
    """Draw a case; every attempt has its own style, grain and small displacements."""
    rng = random.Random(f"render-{plan.seed}-{attempt}")
    documented = _documented(plan.event, facts)
    depicted = _altered(documented, plan, facts)
    scene = Scene(
        face=depicted.host.face,
        kind=plan.event.kind,
        count=depicted.count,
        composition=plan.event.composition,
        style=rng.choice([name for name in STYLES_BY_SPLIT[plan.event.split] if name != plan.event.style]),
        seed=rng.randrange(2**31),
        title=plan.event.title if plan.titled else None,
        venue=depicted.venue,
        date=depicted.date,
        width=params.picture_width,
        height=params.picture_height,
    )
    image = draw_scene(scene)
    return Candidate(plan, scene, depicted, documented, image, encode_png(image))


def gold_record(candidate: Candidate) -> Gold:
    """The private answer of a case."""
    plan, event = candidate.plan, candidate.plan.event
    checks = tuple(
        Check(
            attribute=attribute,
            depicted=candidate.depicted.as_printed(attribute),
            documented=candidate.documented.as_printed(attribute),
        )
        for attribute in Attribute
    )
    people = sorted({candidate.depicted.host.person_id, candidate.documented.host.person_id})
    return Gold(
        case_id=plan.case_id,
        factual_status=Verdict.SUPPORTED if plan.error_type is None else Verdict.REFUTED,
        target_claim=_claim(event, candidate.depicted),
        acceptable_evidence=tuple(_evidence(event, check) for check in checks),
        checks=checks,
        object_kind=event.kind,
        error_type=plan.error_type,
        event_id=event.event_id,
        event_title=event.title,
        person_ids=tuple(people),
        official_urls=(event.official_url,),
        style=candidate.scene.style,
    )


def _documented(event: Event, facts: Facts) -> Depicted:
    return Depicted(date=event.date, venue=event.venue, host=facts.person[event.host_id], count=event.count)


def _altered(documented: Depicted, plan: CasePlan, facts: Facts) -> Depicted:
    decoys = plan.event.decoys
    assert decoys is not None, "cases are made from main events, which have decoys"
    match plan.error_type:
        case ErrorType.TEMPORAL_DISPLACEMENT:
            return replace(documented, date=decoys.date)
        case ErrorType.GEOGRAPHIC_DISPLACEMENT:
            return replace(documented, venue=decoys.venue)
        case ErrorType.IDENTITY_SUBSTITUTION:
            return replace(documented, host=facts.person[decoys.host_id])
        case ErrorType.NUMERICAL_ALTERATION:
            return replace(documented, count=decoys.count)
    return documented


def _claim(event: Event, depicted: Depicted) -> str:
    things = counted(event.kind, depicted.count)
    return (
        f"{event.title} was held on {depicted.date} at {depicted.venue}, hosted by {depicted.host.name}, with {things}."
    )


def _evidence(event: Event, check: Check) -> Evidence:
    return Evidence(
        source_id=f"{event.event_id}:{check.attribute.value}",
        canonical_url=event.official_url,
        exact_span=event.sentences[_SENTENCE[check.attribute]],
        stance="supports" if check.holds else "refutes",
    )
