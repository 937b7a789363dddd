"""Pictures that circulate: posts on a social site with a picture of an event, true to it or with one thing wrong.

The public web has the post and the picture. Whether anything is wrong, and what, stands in the facts alone.
"""

import random
from collections.abc import Iterator

from components.config.schema import WorldParams
from components.records.case import Split
from components.world import names, prose
from components.world.altering import altered, possible
from components.world.draw import Scene
from components.world.entities import Circulating, Event, Facts
from components.world.labels import Label, can_be_untitled, quotas, spread, untitled
from components.world.scenes import Shown, scene_of
from components.world.styles import STYLES_BY_SPLIT

_TRUE_SHARE = 0.3
"""Share of posts whose picture is true to the event; error types share the rest."""
_UNTITLED_SHARE = 0.15
"""Share of posts whose picture does not print the event's title."""
_NUMBERS = range(10**8, 10**9)
"""Of posts; they tell nothing."""


def circulating(facts: Facts, params: WorldParams) -> tuple[Circulating, ...]:
    """What circulates: one picture of a share of each split's events, error types as even as events allow."""
    shown = [one for split in Split for one in _chosen(split, facts, params)]
    # Random numbers of its own, so that the rest of the world is the same however much circulates.
    rng = random.Random(f"circulation-{facts.seed}")
    numbers = rng.sample(_NUMBERS, len(shown))
    return tuple(_post(rng, *one, number) for one, number in zip(shown, numbers, strict=True))


def circulating_picture(post: Circulating, facts: Facts, params: WorldParams) -> tuple[Shown, Scene]:
    """What the picture of a post shows, and how it is drawn."""
    event = facts.event[post.event_id]
    shown = altered(event, post.error_type, facts)
    size = (params.picture_width, params.picture_height)
    return shown, scene_of(shown, event, style=post.style, seed=post.seed, size=size, titled=post.titled)


def _chosen(split: Split, facts: Facts, params: WorldParams) -> Iterator[tuple[Event, Label, bool]]:
    """Events of which a picture circulates, what is wrong with it, and whether it prints the title."""
    rng = random.Random(f"circulation-{facts.seed}-{split.value}")
    events = [event for event in facts.main_events if event.split is split]
    chosen = rng.sample(events, round(params.circulating_share * len(events)))
    allowed = [possible(event, facts) for event in chosen]
    labels = [label for (label,) in spread(rng, quotas(len(chosen), _TRUE_SHARE), allowed, 1)]
    open_to = [at for at, event in enumerate(chosen) if can_be_untitled(event, labels[at])]
    bare = untitled(rng, labels, open_to, _UNTITLED_SHARE)
    for at, (event, label) in enumerate(zip(chosen, labels, strict=True)):
        yield event, label, at not in bare


def _post(rng: random.Random, event: Event, label: Label, titled: bool, number: int) -> Circulating:
    handle = names.slug(rng.choice(prose.HANDLES))
    url = f"https://chirp.example/{handle}/{number}"
    return Circulating(
        event_id=event.event_id,
        error_type=label,
        titled=titled,
        handle=handle,
        text=prose.shared(event.title, rng),
        posted=_posted(rng, event),
        likes=rng.randint(3, 900),
        post_url=url,
        image_url=f"{url}/picture.png",
        style=rng.choice([name for name in STYLES_BY_SPLIT[event.split] if name != event.style]),
        seed=rng.randrange(2**31),
    )


def _posted(rng: random.Random, event: Event) -> str:
    """A day in the year after every date that a picture of the event prints, so that it tells nothing of the date."""
    assert event.decoys is not None, "pictures circulate of main events, which have decoys"
    year = 1 + max(event.year, int(event.decoys.date[-4:]))
    return f"{year}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
