"""The detail that an event is known by besides date, place, host and display: its values and how pages word them."""

import random
from collections.abc import Sequence

from components.records.case import Attribute
from components.records.kinds import ACTIONS, SIDES, SKIES
from components.world import names
from components.world.entities import Detail, Person

DETAILS: tuple[Attribute, ...] = (
    Attribute.ACTION,
    Attribute.GUEST,
    Attribute.SKY,
    Attribute.VISITORS,
    Attribute.SIDE,
    Attribute.MOTTO,
    Attribute.SOURCE,
)
"""Every event has one of these."""

PRINTED: dict[Attribute, str] = {
    Attribute.VISITORS: "Visitors {0}",
    Attribute.MOTTO: "Motto {0}",
    Attribute.SOURCE: "Photo {0}",
}
"""The line that a picture prints of details that are text."""

FIGURES: tuple[str, ...] = tuple(str(number) for number in range(1200, 6000, 300))
"""Numbers of visitors; few, so that a small tokenizer knows each of them."""

_SENTENCES: dict[Attribute, tuple[str, ...]] = {
    Attribute.ACTION: ("On stage, the host was {value}.", "The host was {value} for the public."),
    Attribute.GUEST: ("{value} met the host on stage.", "The host met {value} on stage."),
    Attribute.SKY: ("The sky showed the {value}.", "Above the site, the sky showed the {value}."),
    Attribute.VISITORS: ("The box office recorded {value} visitors.", "The official figure is {value} visitors."),
    Attribute.SIDE: ("The host stood on the {value}.", "The place of the host was on the {value}."),
    Attribute.MOTTO: ("The motto was {value}.", "The banner bore the motto {value}."),
    Attribute.SOURCE: ("Photographs are by {value}.", "Only photographs by {value} are official."),
}


def deal(index: int) -> Attribute:
    """The detail of the event of this number: dealt in turn, so that none is rare."""
    return DETAILS[index % len(DETAILS)]


def draw_values(attribute: Attribute, rng: random.Random, people: Sequence[Person], count: int) -> list[str]:
    """`count` different values, or as many as there are; `people` are those who may be guests."""
    values = _values(attribute, rng, people, count)
    return rng.sample(values, min(count, len(values)))


def _values(attribute: Attribute, rng: random.Random, people: Sequence[Person], count: int) -> Sequence[str]:
    match attribute:
        case Attribute.ACTION:
            return ACTIONS
        case Attribute.SKY:
            return SKIES
        case Attribute.SIDE:
            return SIDES
        case Attribute.VISITORS:
            return FIGURES
        case Attribute.GUEST:
            return [person.person_id for person in people]
        case Attribute.MOTTO:
            return names.mottos(rng, count)
    return names.agencies(rng, count)


def sentence(detail: Detail, rng: random.Random, name_of: dict[str, str]) -> str:
    """How the official record words a detail; `name_of` gives people's names by id."""
    value = name_of[detail.value] if detail.attribute is Attribute.GUEST else detail.value
    return rng.choice(_SENTENCES[detail.attribute]).format(value=value)
