"""From a planned case to its picture and its gold record."""

import random
from dataclasses import dataclass, replace

from PIL import Image

from components.config.schema import WorldParams
from components.curation.plan import CasePlan
from components.records.case import Attribute, Check, Construction, ErrorType, Evidence, Gold, Verdict
from components.records.kinds import counted
from components.world.draw import Scene, draw_scene, encode_png
from components.world.entities import Detail, Event, Facts
from components.world.scenes import Shown, documented, scene_of
from components.world.styles import STYLES_BY_SPLIT

_SENTENCE: dict[Attribute, int] = {
    Attribute.DATE: 0,
    Attribute.VENUE: 0,
    Attribute.PHOTO: 0,
    Attribute.HOST: 1,
    Attribute.COUNT: 2,
}
"""Which sentence of the official record documents an attribute; the last one documents the event's detail."""


@dataclass(frozen=True)
class Candidate:
    """A drawn case that has not been screened yet."""

    plan: CasePlan
    scene: Scene
    depicted: Shown
    documented: Shown
    image: Image.Image
    data: bytes
    """The PNG file."""


def render(plan: CasePlan, attempt: int, facts: Facts, params: WorldParams) -> Candidate:
    """Draw a case; every attempt has its own style, grain and small displacements."""
    rng = random.Random(f"render-{plan.seed}-{attempt}")
    record = documented(plan.event, facts)
    depicted = _altered(record, plan, facts)
    scene = scene_of(
        depicted,
        plan.event,
        style=rng.choice([name for name in STYLES_BY_SPLIT[plan.event.split] if name != plan.event.style]),
        seed=rng.randrange(2**31),
        size=(params.picture_width, params.picture_height),
        titled=plan.titled,
    )
    image = draw_scene(scene)
    return Candidate(plan, scene, depicted, record, image, encode_png(image))


def gold_record(candidate: Candidate) -> Gold:
    """The private answer of a case."""
    plan, event = candidate.plan, candidate.plan.event
    shown, record = candidate.depicted, candidate.documented
    checks = tuple(
        Check(attribute=attribute, depicted=shown.as_printed(attribute), documented=record.as_printed(attribute))
        for attribute in checked(plan)
    )
    people = {person.person_id for person in (shown.host, record.host, shown.guest, record.guest) if person}
    return Gold(
        case_id=plan.case_id,
        factual_status=Verdict.SUPPORTED if plan.error_type is None else Verdict.REFUTED,
        target_claim=_claim(event, shown),
        acceptable_evidence=(*(_evidence(event, check) for check in checks), *_origin(event, shown)),
        checks=checks,
        object_kind=event.kind,
        error_type=plan.error_type,
        event_id=event.event_id,
        event_title=event.title,
        person_ids=tuple(sorted(people)),
        official_urls=tuple(dict.fromkeys((event.official_url, shown.photo.official_url))),
        style=candidate.scene.style,
        construction=Construction.PROTOTYPE if event.photo_url else Construction.FABRICATION,
    )


def checked(plan: CasePlan) -> list[Attribute]:
    """The attributes that picture and record of a case both show, in the order of `Attribute`."""
    known = {Attribute.DATE, Attribute.VENUE, Attribute.HOST, Attribute.COUNT, plan.event.detail.attribute}
    if plan.event.photo_url is not None or plan.error_type is ErrorType.EVENT_RECONTEXTUALIZATION:
        known.add(Attribute.PHOTO)
    return [attribute for attribute in Attribute if attribute in known]


def _altered(record: Shown, plan: CasePlan, facts: Facts) -> Shown:
    decoys = plan.event.decoys
    assert decoys is not None, "cases are made from main events, which have decoys"
    match plan.error_type:
        case None:
            return record
        case ErrorType.TEMPORAL_DISPLACEMENT:
            return replace(record, date=decoys.date)
        case ErrorType.GEOGRAPHIC_DISPLACEMENT:
            return replace(record, venue=decoys.venue)
        case ErrorType.IDENTITY_SUBSTITUTION:
            return replace(record, host=facts.person[decoys.host_id])
        case ErrorType.NUMERICAL_ALTERATION:
            return replace(record, count=decoys.count)
        case ErrorType.EVENT_RECONTEXTUALIZATION:
            return replace(record, photo=facts.twins[plan.event.event_id])
        case ErrorType.INVENTED_INTERACTION:
            return replace(record, detail=_other(record, decoys.detail), guest=facts.person[decoys.detail])
    return replace(record, detail=_other(record, decoys.detail))


def _other(record: Shown, value: str) -> Detail:
    return record.detail.model_copy(update={"value": value})


_DETAIL_CLAIMS: dict[Attribute, str] = {
    Attribute.ACTION: "the host was {0}",
    Attribute.GUEST: "the host met {0}",
    Attribute.SKY: "the sky showed the {0}",
    Attribute.VISITORS: "{0} visitors were recorded",
    Attribute.SIDE: "the host stood on the {0}",
    Attribute.MOTTO: "the motto was {0}",
    Attribute.SOURCE: "the picture is by {0}",
}


def _claim(event: Event, shown: Shown) -> str:
    things = counted(event.kind, shown.count)
    attribute = shown.detail.attribute
    detail = _DETAIL_CLAIMS[attribute].format(shown.as_printed(attribute))
    return (
        f"This is {event.title} at {shown.venue} on {shown.date}, hosted by {shown.host.name}, with {things}; {detail}."
    )


def _origin(event: Event, shown: Shown) -> tuple[Evidence, ...]:
    """Where a recirculated picture comes from: the record of the event that it was taken at."""
    if shown.photo == event:
        return ()
    check = Check(attribute=Attribute.PHOTO, depicted=str(shown.photo.year), documented=str(event.year))
    return (_evidence(shown.photo, check),)


def _evidence(event: Event, check: Check) -> Evidence:
    return Evidence(
        source_id=f"{event.event_id}:{check.attribute.value}",
        canonical_url=event.official_url,
        exact_span=event.sentences[_SENTENCE.get(check.attribute, len(event.sentences) - 1)],
        stance="supports" if check.holds else "refutes",
    )
