"""Deciding what is true: people, venues, dated events and their near-miss editions, all from one seed."""

import math
import random
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar, get_args

from components.config.schema import WorldParams
from components.errors import UsageError
from components.records.case import Split
from components.records.kinds import KINDS, counted
from components.world import names
from components.world.circulation import circulating
from components.world.details import Deck, sentence
from components.world.entities import Decoys, Detail, Event, FaceSpec, Facts, Person
from components.world.styles import STYLES_BY_SPLIT

T = TypeVar("T")

COUNTS = range(3, 13)
"""How many objects an event, or an altered picture of it, can have."""

_NEAR_COUNT = 4
_TWIN_SHARE = 0.5
_OTHER_YEAR = 0.2
_UNPHOTOGRAPHED_SHARE = 0.4

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


class _Cast(NamedTuple):
    """Who and what the events of a split draw on; dealt in turn, so that nobody and no place is left out."""

    split: Split
    people: list[Person]
    places: list[str]
    deck: Deck


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
    pool = names.NamePool(rng)
    sizes = {Split.TRAIN: params.train_events, Split.TEST: params.test_events}
    people_counts = {split: _pool_size(size, _PEOPLE_PER_EVENT, _POOL_LIMIT[split][0]) for split, size in sizes.items()}
    faces = iter(distinct_faces(rng, sum(people_counts.values())))
    people: list[Person] = []
    events: list[Event] = []
    for split, size in sizes.items():
        group = [_person(next(pool.people), next(faces), split) for _ in range(people_counts[split])]
        places = [next(pool.venues) for _ in range(_pool_size(size, _VENUES_PER_EVENT, _POOL_LIMIT[split][1]))]
        people += group
        cast = _Cast(split, group, places, Deck(rng, group))
        for index in range(size):
            events += _editions(rng, pool, cast, index, params.near_misses)
    facts = Facts(seed=params.seed, people=tuple(people), events=tuple(events))
    return facts.model_copy(update={"circulating": circulating(facts, params)})


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


def _editions(rng: random.Random, pool: names.NamePool, cast: _Cast, index: int, near_misses: int) -> Iterator[Event]:
    """An event and its near misses; values of editions and decoys are all different from one another.

    Half of the first near misses are twins instead: other date, place and scene, but the same host, display and detail.
    """
    editions = 1 + near_misses
    years = rng.sample(names.YEARS, min(editions + 1, len(names.YEARS)))
    hosts = _sample(rng, _from(cast.people, index), editions + 1)
    venues = _sample(rng, _from(cast.places, index), editions + 1)
    values = cast.deck.values(index, rng, hosts, editions + 1)
    *counts, wrong_count = _counts(rng, editions)
    title, kind = pool.title(), rng.choice(KINDS)
    twin = near_misses > 0 and rng.random() < _TWIN_SHARE
    if twin:
        years[:2] = sorted(years[:2], reverse=True)  # what is recirculated is older
    dates = [_date(rng, years[at % len(years)]) for at in range(editions)]
    decoys = Decoys(
        date=_decoy_date(rng, dates, years[-1]),
        venue=venues[-1],
        host_id=hosts[-1].person_id,
        count=wrong_count,
        detail=values[-1],
    )
    for at in range(editions):
        is_twin = twin and at == 1
        like = 0 if is_twin else at
        same_name = like == 0 or (rng.random() < 0.5 and at < len(years))
        yield _event(
            rng,
            cast,
            event_id=f"{cast.split.value}-event-{index:04d}-{at}",
            title=title if same_name else pool.title_like(title, rng) or pool.title(),
            date=dates[at],
            venue=venues[at],
            host_id=hosts[like].person_id,
            kind=kind,
            count=counts[like],
            detail=Detail(attribute=cast.deck.attribute(index), value=values[like % (len(values) - 1)]),
            edition_of=f"{cast.split.value}-event-{index:04d}-0" if at else None,
            is_twin=is_twin,
            decoys=None if at else decoys,
        )


def _sample(rng: random.Random, values: list[T], count: int) -> list[T]:
    """The first value and others at random, different as long as there are enough; the first and last always differ."""
    distinct = [values[0], *rng.sample(values[1:], min(count, len(values)) - 1)]
    return [distinct[0], *(distinct[1:-1] * count)[: count - 2], distinct[-1]]


def _counts(rng: random.Random, editions: int) -> list[int]:
    """Counts of the editions, then the decoy's, which is near the first.

    First and decoy are drawn as a pair, so that neither is more often a middling number than the other.
    """
    first, decoy = rng.choice([(n, m) for n in COUNTS for m in COUNTS if 1 <= abs(n - m) <= _NEAR_COUNT])
    others = rng.sample([n for n in COUNTS if n not in (first, decoy)], min(editions - 1, 4))
    return [first, *(others[at % len(others)] for at in range(editions - 1)), decoy]


def _date(rng: random.Random, year: int) -> str:
    return names.printed_date(rng.randint(1, 28), rng.randint(1, 12), year)


def _decoy_date(rng: random.Random, dates: list[str], other_year: int) -> str:
    """Another day and month than the first of `dates`, in its year or in one that no edition has."""
    day, month, year = dates[0].split(" ")
    while True:
        new_day = rng.choice([n for n in range(1, 29) if n != int(day)])
        new_month = rng.choice([n for n in range(1, 13) if names.MONTHS[n - 1] != month])
        # Mostly another day of the same year, since other editions' dates differ in the year already.
        decoy = names.printed_date(new_day, new_month, other_year if rng.random() < _OTHER_YEAR else int(year))
        if decoy not in dates:
            return decoy


def _event(rng: random.Random, cast: _Cast, *, title: str, date: str, **values: Any) -> Event:
    """An edition with its official page, which words the facts; editions that nobody photographed have no picture."""
    url = f"https://{names.slug(title)}.example/{date.rsplit(' ', 1)[1]}"
    name_of = {person.person_id: person.name for person in cast.people}
    words = {
        "title": title,
        "date": date,
        "venue": values["venue"],
        "host": name_of[values["host_id"]],
        "things": counted(values["kind"], values["count"]),
    }
    composition = rng.randrange(2**31)
    style = rng.choice(STYLES_BY_SPLIT[cast.split])
    basic = [rng.choice(forms).format(**words) for forms in (_DATE_AND_PLACE, _HOST, _COUNT)]
    photographed = values["edition_of"] is not None or rng.random() >= _UNPHOTOGRAPHED_SHARE
    return Event(
        split=cast.split,
        title=title,
        date=date,
        composition=composition,
        style=style,
        official_url=url,
        photo_url=f"{url}/photo.png" if photographed else None,
        sentences=(*basic, sentence(values["detail"], rng, name_of)),
        **values,
    )
