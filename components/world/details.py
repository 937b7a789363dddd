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

_SHOWN: dict[Attribute, tuple[str, ...]] = {
    Attribute.ACTION: ACTIONS,
    Attribute.SKY: SKIES,
    Attribute.SIDE: SIDES,
}

_SENTENCES: dict[Attribute, tuple[str, ...]] = {
    Attribute.ACTION: ("On stage, the host was {value}.", "The host was {value} for the public."),
    Attribute.GUEST: ("{value} met the host on stage.", "The host met {value} on stage."),
    Attribute.SKY: ("The sky showed the {value}.", "Above the site, the sky showed the {value}."),
    Attribute.VISITORS: ("The box office recorded {value} visitors.", "The official figure is {value} visitors."),
    Attribute.SIDE: ("The host stood on the {value}.", "The place of the host was on the {value}."),
    Attribute.MOTTO: ("The motto was {value}.", "The banner bore the motto {value}."),
    Attribute.SOURCE: ("Photographs are by {value}.", "Only photographs by {value} are official."),
}


class Deck:
    """Details of the events of a split, dealt in turn so that none is rare and every word of a value occurs.

    Args:
        rng: shuffles the values once.
        people: who may be guests.

    """

    def __init__(self, rng: random.Random, people: Sequence[Person]) -> None:
        self._people = people
        self._words = {
            Attribute.VISITORS: ([""], _shuffled(rng, FIGURES)),
            Attribute.MOTTO: tuple(_shuffled(rng, words) for words in names.MOTTO_WORDS),
            Attribute.SOURCE: tuple(_shuffled(rng, words) for words in names.AGENCY_WORDS),
        }

    def attribute(self, index: int) -> Attribute:
        """Which detail the event of this number has."""
        return DETAILS[index % len(DETAILS)]

    def values(self, index: int, rng: random.Random, hosts: Sequence[Person], count: int) -> list[str]:
        """`count` different values for that event, its near misses and its decoy, or as many as there are."""
        attribute = self.attribute(index)
        if attribute is Attribute.GUEST:
            options = [person.person_id for person in self._people if person not in hosts]
        elif attribute in self._words:
            turn = index // len(DETAILS)
            return [self._told(attribute, turn + step) for step in (0, *rng.sample(range(1, len(FIGURES)), count - 1))]
        else:
            options = list(_SHOWN[attribute])
        return rng.sample(options, min(count, len(options)))

    def _told(self, attribute: Attribute, turn: int) -> str:
        """One word from each list: turns that are less than a list apart give other words."""
        return " ".join(words[turn % len(words)] for words in self._words[attribute]).strip()


def _shuffled(rng: random.Random, words: Sequence[str]) -> list[str]:
    return rng.sample(words, len(words))


def sentence(detail: Detail, rng: random.Random, name_of: dict[str, str]) -> str:
    """How the official record words a detail; `name_of` gives people's names by id."""
    value = name_of[detail.value] if detail.attribute is Attribute.GUEST else detail.value
    return rng.choice(_SENTENCES[detail.attribute]).format(value=value)
