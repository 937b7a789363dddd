"""From a planned case to its picture and its gold record."""

import hashlib
import io
import random
from dataclasses import dataclass

from PIL import Image

from components.config.schema import WorldParams
from components.curation.curator.research import Research
from components.curation.evidence import evidence_of, proposals_of, provenance_of
from components.curation.plan import CasePlan
from components.records.case import Attribute, Check, Construction, ErrorType, Gold, Route, Verdict
from components.records.kinds import counted
from components.world.altering import altered, known_by
from components.world.circulation import circulating_picture
from components.world.draw import Scene, draw_scene, encode_png
from components.world.entities import Circulating, Event, Facts
from components.world.scenes import Shown, documented, scene_of
from components.world.styles import STYLES_BY_SPLIT

_ID_DIGITS = 16


@dataclass(frozen=True)
class Candidate:
    """A drawn or collected case that has not been screened yet."""

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
    depicted = altered(plan.event, plan.error_type, facts)
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


def as_posted(plan: CasePlan, post: Circulating, data: bytes, facts: Facts, params: WorldParams) -> Candidate:
    """A case whose picture was posted, `data`, byte for byte."""
    depicted, scene = circulating_picture(post, facts, params)
    image = Image.open(io.BytesIO(data)).convert("RGB")
    return Candidate(plan, scene, depicted, documented(plan.event, facts), image, data)


def checks_of(candidate: Candidate) -> tuple[Check, ...]:
    """Picture and record side by side."""
    shown, record = candidate.depicted, candidate.documented
    return tuple(
        Check(attribute=attribute, depicted=shown.as_printed(attribute), documented=record.as_printed(attribute))
        for attribute in checked(candidate.plan)
    )


def gold_record(candidate: Candidate, research: Research) -> Gold:
    """The private answer of a case; what documents it is what the curation agent found.

    For a picture that was posted, so is what it shows.
    """
    plan, event, found = candidate.plan, candidate.plan.event, candidate.plan.found
    shown, record = candidate.depicted, candidate.documented
    checks = found.checks if found else checks_of(candidate)
    proposals = proposals_of(event, shown, research)
    people = {person.person_id for person in (shown.host, record.host, shown.guest, record.guest) if person}
    return Gold(
        case_id=plan.case_id,
        candidate_id=candidate_id(plan),
        factual_status=Verdict.SUPPORTED if plan.error_type is None else Verdict.REFUTED,
        target_claim=_claim(event, shown),
        acceptable_evidence=evidence_of(checks, proposals),
        checks=checks,
        object_kind=event.kind,
        error_type=plan.error_type,
        event_id=event.event_id,
        event_title=event.title,
        person_ids=tuple(sorted(people)),
        official_urls=tuple(proposal.canonical_url for proposal in proposals),
        style=candidate.scene.style,
        route=Route.WEB if found else Route.CONSTRUCTED,
        construction=None if found else _construction(event),
        image_origin="circulating" if found else "rendered",
        provenance=provenance_of(proposals, found),
    )


def _construction(event: Event) -> Construction:
    return Construction.PROTOTYPE if event.photo_url else Construction.FABRICATION


def candidate_id(plan: CasePlan) -> str:
    """What a candidate is called in private, so that its way can be followed; says nothing about event or label."""
    return hashlib.sha256(f"candidate-{plan.seed}".encode()).hexdigest()[:_ID_DIGITS]


def checked(plan: CasePlan) -> list[Attribute]:
    """The attributes that picture and record of a case both show, in the order of `Attribute`."""
    known = set(known_by(plan.event))
    if plan.event.photo_url is not None or plan.error_type is ErrorType.EVENT_RECONTEXTUALIZATION:
        known.add(Attribute.PHOTO)
    return [attribute for attribute in Attribute if attribute in known]


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
