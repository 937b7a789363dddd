"""Deciding what is true: people, venues, dated events and their near-miss editions, all from one seed."""

import math
import random
from collections.abc import Iterator
from typing import TypeVar, get_args

from components.config.schema import WorldParams
from components.errors import UsageError
from components.records.case import Split
from components.records.kinds import KINDS, counted
from components.world import names
from components.world.entities import Decoys, Event, FaceSpec, Facts, Person
from components.world.styles import STYLES_BY_SPLIT

T = TypeVar("T")

COUNTS = range(3, 13)
"""How many objects an event, or an altered picture of it, can have."""

_PEOPLE_PER_EVENT = 0.6
_VENUES_PER_EVENT = 0.7
_MIN_POOL = 8
_POOL_LIMIT = {Split.TRAIN: (260, 400), Split.TEST: (90, 150)}
"""Most people, most venues: what the words and the visible features can tell apart."""

_DATE_AND_PLACE = (
    "{title} was held on {date} at {venue}.",
    "{title} took place at {venue} on {date}.",
    "On {date}, {title} was held at {venue}.",
)
_HOST = ("The host was {host}.", "{host} was the host.", "The event was hosted by {host}.")
_COUNT = ("{things} were on display.", "The display had {things}.", "Visitors saw {things}.")


class _Names:
    """Unused names, handed out once each."""

    def __init__(self, rng: random.Random) -> None:
        self.titles = names.titles(rng)
        self.venues = iter(names.venues(rng))
        self.people = iter(names.people(rng))
        self._used: set[str] = set()

    def title(self) -> str:
        return self._take(self.titles, "events")

    def title_like(self, title: str, rng: random.Random) -> str | None:
        """An unused title that shares the first word, if one is left."""
        free = [other for other in names.similar_titles(title) if other not in self._used]
        return self._take([rng.choice(free)], "events") if free else None

    def _take(self, candidates: list[str], what: str) -> str:
        found = next((title for title in candidates if title not in self._used), None)
        if found is None:
            raise UsageError(
                f"params.yaml asks for more {what} than there are titles ({len(self.titles)}); "
                "lower world.train_events, world.test_events or world.near_misses"
            )
        self._used.add(found)
        return found


def random_face(rng: random.Random) -> FaceSpec:
    """A face with every feature drawn at random; a hat leaves only hair shapes that show under it."""
    hat = rng.choice(("none", "none", *get_args(FaceSpec.model_fields["hat"].annotation)))
    shapes = ("short", "long") if hat != "none" else get_args(FaceSpec.model_fields["hair_shape"].annotation)
    other = {
        name: rng.choice(get_args(FaceSpec.model_fields[name].annotation))
        for name in ("skin", "hair_colour", "glasses", "beard")
    }
    return FaceSpec(hat=hat, hair_shape=rng.choice(shapes), **other)


def distinct_faces(rng: random.Random, count: int) -> list[FaceSpec]:
    """Faces of which any two differ in at least two visible features."""
    faces: list[FaceSpec] = []
    for _ in range(400 * count):
        face = random_face(rng)
        if all(face.distance(other) >= 2 for other in faces):
            faces.append(face)
            if len(faces) == count:
                return faces
    raise UsageError(f"no {count} people can be told apart; lower world.train_events or world.test_events")


def build_facts(params: WorldParams) -> Facts:
    """Everything that is true in the world.

    Training and test share no event, person, face, venue or page.

    Raises:
        UsageError: more events are asked for than names can tell apart.

    """
    rng = random.Random(f"world-{params.seed}")
    pool = _Names(rng)
    sizes = {Split.TRAIN: params.train_events, Split.TEST: params.test_events}
    people_counts = {split: _pool_size(size, _PEOPLE_PER_EVENT, _POOL_LIMIT[split][0]) for split, size in sizes.items()}
    faces = iter(distinct_faces(rng, sum(people_counts.values())))
    people: list[Person] = []
    events: list[Event] = []
    for split, size in sizes.items():
        group = [_person(next(pool.people), next(faces), split) for _ in range(people_counts[split])]
        places = [next(pool.venues) for _ in range(_pool_size(size, _VENUES_PER_EVENT, _POOL_LIMIT[split][1]))]
        people += group
        for index in range(size):
            # Dealt in turn rather than drawn, so that nobody and no place is left out.
            cast, sites = _from(group, index), _from(places, index)
            events += _editions(rng, pool, split, f"{split.value}-{index:04d}", cast, sites, params.near_misses)
    return Facts(seed=params.seed, people=tuple(people), events=tuple(events))


def _from(values: list[T], index: int) -> list[T]:
    """`values` in a circle, begun at `index`."""
    start = index % len(values)
    return values[start:] + values[:start]


def _pool_size(events: int, share: float, limit: int) -> int:
    return min(max(_MIN_POOL, math.ceil(share * events)), limit)


def _person(name: str, face: FaceSpec, split: Split) -> Person:
    slug = names.slug(name)
    url = f"https://people.example/{slug}"
    return Person(
        person_id=slug, name=name, face=face, profile_url=url, portrait_url=f"{url}/portrait.png", split=split
    )


def _editions(
    rng: random.Random,
    pool: _Names,
    split: Split,
    event_id: str,
    people: list[Person],
    places: list[str],
    near_misses: int,
) -> Iterator[Event]:
    """An event and its near misses; values of editions and decoys are all different from one another."""
    editions = 1 + near_misses
    years = rng.sample(names.YEARS, min(editions + 1, len(names.YEARS)))
    hosts = _sample(rng, people, editions + 1)
    venues = _sample(rng, places, editions + 1)
    counts = _counts(rng, editions)
    title, kind = pool.title(), rng.choice(KINDS)
    dates = [_date(rng, years[index % len(years)]) for index in range(editions)]
    decoys = Decoys(
        date=_decoy_date(rng, dates, years[-1]),
        venue=venues[-1],
        host_id=hosts[-1].person_id,
        count=rng.choice([n for n in COUNTS if 1 <= abs(n - counts[0]) <= 4 and n not in counts]),
    )
    for index in range(editions):
        same_name = index == 0 or (rng.random() < 0.5 and index < len(years))
        own = title if same_name else pool.title_like(title, rng) or pool.title()
        yield _event(
            rng, split, f"{event_id}-{index}", own, dates[index], venues[index], hosts[index], kind, counts[index],
            edition_of=f"{event_id}-0" if index else None, decoys=None if index else decoys,
        )  # fmt: skip


def _sample(rng: random.Random, values: list[T], count: int) -> list[T]:
    """The first value and others at random, different as long as there are enough; the first and last always differ."""
    distinct = [values[0], *rng.sample(values[1:], min(count, len(values)) - 1)]
    return [distinct[0], *(distinct[1:-1] * count)[: count - 2], distinct[-1]]


def _counts(rng: random.Random, editions: int) -> list[int]:
    """Counts of the editions, few enough different ones to leave room for a decoy near the first."""
    chosen = rng.sample(COUNTS, min(editions, 4))
    return [chosen[index % len(chosen)] for index in range(editions)]


def _date(rng: random.Random, year: int) -> str:
    return names.printed_date(rng.randint(1, 28), rng.randint(1, 12), year)


def _decoy_date(rng: random.Random, dates: list[str], other_year: int) -> str:
    """Another day and month than the first of `dates`, in its year or in one that no edition has."""
    day, month, year = dates[0].split(" ")
    while True:
        new_day = rng.choice([n for n in range(1, 29) if n != int(day)])
        new_month = rng.choice([n for n in range(1, 13) if names.MONTHS[n - 1] != month])
        decoy = names.printed_date(new_day, new_month, rng.choice((int(year), other_year)))
        if decoy not in dates:
            return decoy


def _event(
    rng: random.Random,
    split: Split,
    event_id: str,
    title: str,
    date: str,
    venue: str,
    host: Person,
    kind: str,
    count: int,
    edition_of: str | None,
    decoys: Decoys | None,
) -> Event:
    url = f"https://{names.slug(title)}.example/{date.rsplit(' ', 1)[1]}"
    words = {"title": title, "date": date, "venue": venue, "host": host.name, "things": counted(kind, count)}
    return Event(
        event_id=event_id,
        split=split,
        title=title,
        date=date,
        venue=venue,
        host_id=host.person_id,
        kind=kind,
        count=count,
        composition=rng.randrange(2**31),
        style=rng.choice(STYLES_BY_SPLIT[split]),
        official_url=url,
        photo_url=f"{url}/photo.png",
        edition_of=edition_of,
        decoys=decoys,
        sentences=tuple(rng.choice(forms).format(**words) for forms in (_DATE_AND_PLACE, _HOST, _COUNT)),
    )
