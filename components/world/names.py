"""The small vocabulary that every name in the world is put together from.

Training and test share the words and never a whole name, so that a small language model can copy names it never saw.
No word is the name of an object kind, and none needs letters that optical character recognition mixes up.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import product

from components.errors import UsageError

_TITLE_FIRST = """
Harvest Autumn Winter Spring Summer Copper Silver Golden Crimson Maple Cedar Willow Orchard Meadow Valley Canyon
Coastal Island Northern Southern Eastern Western Moonlight Sunrise Midnight Thunder Velvet Crystal Marble Granite
Pioneer Liberty Unity Heritage Jubilee Horizon Compass Beacon Falcon Heron
"""

_TITLE_SECOND = """
Gala Festival Parade Fair Concert Regatta Market Summit Banquet Carnival Pageant Reunion Marathon Exhibition
Congress Ceremony
"""

_VENUE_WORD = """
Rowan Ashford Bramble Camden Dalton Easton Fenwick Garnet Hadley Kendal Langton Marlow Norwood Oakley Preston Radley
Seaton Thornby Upton Walden Yarrow Bexley Carver Denholm Elmwood Foxley Granby Holden Juniper Kirkby Lowell Newbury
Orford Penrose Quarry Redmond Selby Tarrant Ventnor Westby Alder Birch Colby Dover Exeter Farnham Hazel Sutton
"""

_VENUE_TYPE = "Hall Park Square Garden Plaza Harbor Theater Arena Pavilion Museum Terrace Library"

_FIRST = """
Mara Adam Bruno Carla Diego Elena Felix Greta Hugo Irene Jonas Karen Laura Martin Nadia Oscar Paula Rafael Sofia
Tobias Ursula Victor Wanda Yusuf Zora Amara Bella Cedric Dora Edwin Fatima Gavin Helga Ivan Jasper Kenji Leila Marco
Nora Omar Petra Quentin Rosa Samuel Teresa Vera Walter Yvonne
"""

_LAST = """
Venn Abbott Barker Castro Duncan Ekberg Foster Garcia Hansen Iverson Jensen Keller Larsen Moreno Nolan Osborne Parker
Ramsey Santos Turner Vargas Weber Yamada Zimmer Archer Bowman Cooper Dawson Engel Fisher Graham Hobbs Jarvis Kramer
Lambert Mercer Novak Ortega Porter Reeves Sawyer Tanaka Usher Vogel Warner York Becker Quinn
"""

_MOTTO_SECOND = """
Dawn Light Path River Bridge Songs Voices Stars Hearts Hands Roads Dreams Waves Wings Gates Fields
"""

_AGENCY_SECOND = """
Post Gazette Herald Tribune Times Chronicle Observer Mirror Record Journal Courier Monitor Bulletin Review Sentinel
Standard
"""

MOTTO_WORDS: tuple[Sequence[str], ...] = (_TITLE_FIRST.split(), _MOTTO_SECOND.split())
"""First and second words of mottos: "Silver Dawn"."""

AGENCY_WORDS: tuple[Sequence[str], ...] = (_VENUE_WORD.split(), _AGENCY_SECOND.split())
"""First and second words of the names that pictures are signed with: "Kendal Post"."""

MONTHS: tuple[str, ...] = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

YEARS: tuple[int, ...] = tuple(range(2031, 2037))


def _shuffled(rng: random.Random, first: str, second: str) -> list[str]:
    """All pairs in random order, but for some that come first and hold every word: the first to take knows them all."""
    names = list(product(first.split(), second.split()))
    rng.shuffle(names)
    unseen = {*first.split(), *second.split()}
    leading = []
    for words in names:
        if not unseen.isdisjoint(words):
            leading.append(words)
            unseen.difference_update(words)
    return [" ".join(words) for words in (*leading, *(words for words in names if words not in leading))]


def titles(rng: random.Random) -> Iterator[str]:
    """Every event title, in random order: first those of two words, "Harvest Gala", then "Copper Harvest Gala"."""
    short = _shuffled(rng, _TITLE_FIRST, _TITLE_SECOND)
    yield from short
    longer = [f"{first} {title}" for first, title in product(_TITLE_FIRST.split(), short) if first not in title]
    rng.shuffle(longer)
    yield from longer


def venues(rng: random.Random) -> list[str]:
    """Every venue name, in random order: "Rowan Hall"."""
    return _shuffled(rng, _VENUE_WORD, _VENUE_TYPE)


def people(rng: random.Random) -> list[str]:
    """Every person's name, in random order: "Mara Venn"."""
    return _shuffled(rng, _FIRST, _LAST)


def similar_titles(title: str) -> list[str]:
    """Titles that differ in the last word alone: "Harvest Fair" for "Harvest Gala"."""
    first, last = title.rsplit(" ", 1)
    return [f"{first} {other}" for other in _TITLE_SECOND.split() if other != last]


def printed_date(day: int, month: int, year: int) -> str:
    """A date as pictures and pages print it: "12 March 2031"; `month` counts from 1."""
    return f"{day} {MONTHS[month - 1]} {year}"


def iso_date(printed: str) -> str:
    """The ISO form of a printed date."""
    day, month, year = printed.split(" ")
    return f"{year}-{MONTHS.index(month) + 1:02d}-{int(day):02d}"


def slug(name: str) -> str:
    """A name as it stands in a URL: "harvest-gala"."""
    return name.lower().replace(" ", "-")


class NamePool:
    """Unused names, handed out once each."""

    def __init__(self, rng: random.Random) -> None:
        self._fresh = titles(rng)
        self.venues = iter(venues(rng))
        self.people = iter(people(rng))
        self._used: set[str] = set()

    def title(self) -> str:
        """The next unused title; raises UsageError when there is none left."""
        title = next((title for title in self._fresh if title not in self._used), None)
        if title is None:
            raise UsageError(
                "params.yaml asks for more events than there are titles; "
                "lower world.train_events, world.test_events or world.near_misses"
            )
        return self._taken(title)

    def title_like(self, title: str, rng: random.Random) -> str | None:
        """An unused title that shares all but the last word, if one is left."""
        free = [other for other in similar_titles(title) if other not in self._used]
        return self._taken(rng.choice(free)) if free else None

    def _taken(self, title: str) -> str:
        self._used.add(title)
        return title
