"""What can be made wrong in a picture of an event, and a picture's content with one thing wrong."""

from dataclasses import replace

from components.records.case import DECISIVE_ATTRIBUTE, Attribute, ErrorType
from components.world.entities import Detail, Event, Facts
from components.world.scenes import Shown, documented


def known_by(event: Event) -> frozenset[Attribute]:
    """What record and picture of an event both give, photographed or not: date, place, host, display and its detail."""
    return frozenset({Attribute.DATE, Attribute.VENUE, Attribute.HOST, Attribute.COUNT, event.detail.attribute})


def possible(event: Event, facts: Facts) -> frozenset[ErrorType]:
    """The error types that pictures of an event can have.

    All that it is known by can be wrong, and its scene if an older event looks alike.
    """
    attributes = set(known_by(event))
    if event.event_id in facts.twins:
        attributes.add(Attribute.PHOTO)
    return frozenset(kind for kind, attribute in DECISIVE_ATTRIBUTE.items() if attribute in attributes)


def altered(event: Event, error_type: ErrorType | None, facts: Facts) -> Shown:
    """What a picture of the event shows when one thing is wrong; everything as documented for None."""
    record, decoys = documented(event, facts), event.decoys
    assert decoys is not None, "pictures are altered of main events, which have decoys"
    match error_type:
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
            return replace(record, photo=facts.twins[event.event_id])
        case ErrorType.INVENTED_INTERACTION:
            return replace(record, detail=_other(record, decoys.detail), guest=facts.person[decoys.detail])
    return replace(record, detail=_other(record, decoys.detail))


def _other(record: Shown, value: str) -> Detail:
    return record.detail.model_copy(update={"value": value})
