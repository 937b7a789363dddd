"""The evidence of a gold record, from what the curation agent proposed."""

from collections.abc import Iterable, Iterator, Sequence

from components.curation.collecting.find import Found
from components.curation.curator.proposal import Proposal, Topic
from components.curation.curator.research import Research
from components.curation.plan import CasePlan
from components.records.case import Attribute, Check, ErrorType, Evidence, Provenance, WebSource
from components.world.entities import Event, Facts
from components.world.scenes import Shown


def topic_of(event: Event) -> Topic:
    """What the curation agent is told of an event: its title and its year."""
    return Topic(title=event.title, year=event.year)


def topics_of(plans: Iterable[CasePlan], facts: Facts) -> Iterator[Topic]:
    """Everything that the gold records of `plans` need researched."""
    for plan in plans:
        yield topic_of(plan.event)
        if plan.error_type is ErrorType.EVENT_RECONTEXTUALIZATION:
            yield topic_of(facts.twins[plan.event.event_id])


def proposals_of(event: Event, shown: Shown, research: Research) -> list[Proposal]:
    """The proposal for the event, and the one for the older event whose scene a recirculated picture shows."""
    return [research[topic_of(one)] for one in ([event] if shown.photo == event else [event, shown.photo])]


def evidence_of(checks: Sequence[Check], proposals: Sequence[Proposal]) -> tuple[Evidence, ...]:
    """What documents each check; and where a recirculated picture comes from, when there is a second proposal."""
    record, *older = proposals
    stated = [_evidence(record, check) for check in checks]
    origins = [check for check in checks if check.attribute is Attribute.PHOTO and not check.holds]
    return (*stated, *(_evidence(proposal, check) for proposal in older for check in origins))


def provenance_of(proposals: Sequence[Proposal], found: Found | None = None) -> Provenance:
    """How the source of a posted picture, and then the evidence, was found."""
    trails = [*([found.trail] if found else []), *(proposal.trail for proposal in proposals)]
    return Provenance(
        queries=tuple(query for trail in trails for query in trail.queries),
        pages=tuple(page for trail in trails for page in trail.pages),
        tool_calls=sum(trail.tool_calls for trail in trails),
        source=_source(found) if found else None,
    )


def _source(found: Found) -> WebSource:
    post = found.post
    return WebSource(
        post_url=post.page_url, image_url=post.image_url, posted=post.posted, recovered_by=found.recovered_by
    )


def _evidence(proposal: Proposal, check: Check) -> Evidence:
    stated = proposal.statement(check.attribute)
    assert stated is not None, "a proposal that leaves a check undocumented is rejected before"
    return Evidence(
        source_id=f"{proposal.topic.page_title}:{check.attribute.value}",
        canonical_url=proposal.canonical_url,
        exact_span=stated.exact_span,
        stance="supports" if check.holds else "refutes",
    )
