"""Whether what the curation agent proposes agrees with what is drawn as documented."""

from components.curation.curator.proposal import Proposal
from components.curation.curator.research import Research
from components.curation.evidence import proposals_of
from components.curation.plan import CasePlan
from components.curation.render import checked
from components.curation.screen import Reason
from components.records.case import Attribute
from components.tools.urls import same_address
from components.world.altering import altered
from components.world.entities import Event, Facts
from components.world.scenes import Shown, documented


def objection(plan: CasePlan, facts: Facts, research: Research) -> Reason | None:
    """What speaks against drawing a case at all, or None."""
    event, shown = plan.event, altered(plan.event, plan.error_type, facts)
    record, *older = proposals_of(event, shown, research)
    if any(proposal.miss for proposal in (record, *older)):
        return Reason.NO_PROPOSAL
    agrees = _agrees(record, event, documented(event, facts), checked(plan)) and all(
        _agrees(proposal, shown.photo, documented(shown.photo, facts), [Attribute.PHOTO]) for proposal in older
    )
    return None if agrees else Reason.PROPOSAL_DISAGREES


def _agrees(proposal: Proposal, event: Event, record: Shown, attributes: list[Attribute]) -> bool:
    """Whether a proposal names the event's own page, and documents all of `attributes` as the record has them."""
    if same_address(proposal.canonical_url) != same_address(event.official_url):
        return False
    if Attribute.PHOTO in attributes and proposal.picture_url != (event.photo_url or ""):
        return False
    stated = {attribute: proposal.statement(attribute) for attribute in attributes}
    return all(found and found.value == record.as_printed(attribute) for attribute, found in stated.items())
