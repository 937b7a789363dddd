"""How labels are spread over events: exact quotas, dealt by chance, no event with one label twice where that can be."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from components.records.case import ErrorType
from components.world.entities import Event

Label = ErrorType | None
"""What is altered; None for a faithful picture."""

_NEEDS_TITLE = frozenset({ErrorType.EVENT_RECONTEXTUALIZATION, ErrorType.SPATIAL_ALTERATION})
"""Without a title, only a search by the picture leads to the event, and these scenes are not the event's own."""


def quotas(total: int, supported_share: float) -> dict[Label, int]:
    """How many cases of each label: the share of faithful ones, the rest spread evenly over the error types."""
    supported = round(supported_share * total)
    each, left = divmod(total - supported, len(ErrorType))
    return {None: supported, **{kind: each + (index < left) for index, kind in enumerate(ErrorType)}}


def can_be_untitled(event: Event, label: Label) -> bool:
    """Whether a picture with this label leads to its event without a printed title."""
    return event.photo_url is not None and label not in _NEEDS_TITLE


def untitled(
    rng: random.Random, labels: Sequence[Label], open_to: Sequence[int], share: float, known: Sequence[int] = ()
) -> set[int]:
    """Slots without a title: the same share of faithful and of altered pictures, so that its lack tells nothing.

    Args:
        rng: chooses.
        labels: of every slot.
        open_to: slots that may be chosen.
        share: of all slots that are to be without.
        known: slots that are without already, and count.

    """
    chosen = set(known)
    for faithful in (True, False):
        slots = [slot for slot in open_to if (labels[slot] is None) is faithful]
        wanted = round(share * sum((label is None) is faithful for label in labels))
        wanted -= sum((labels[slot] is None) is faithful for slot in known)
        chosen.update(rng.sample(slots, min(len(slots), max(wanted, 0))))
    return chosen


def spread(
    rng: random.Random,
    counts: Mapping[Label, int],
    allowed: Sequence[frozenset[ErrorType]],
    per_event: int,
    taken: Sequence[Sequence[Label]] = (),
) -> list[list[Label]]:
    """Labels for each event, so that it has what it can and nothing twice, as far as there are events for it.

    Types that few events can have are placed first; what finds no event goes to the types that every event can have.

    Args:
        rng: chooses.
        counts: how many of each label; with those that are taken, `per_event` for each event.
        allowed: the error types that each event can have.
        per_event: labels of an event.
        taken: labels that each event has already, and which are not returned; none without.

    """
    had = [list(labels) for labels in taken] or [[] for _ in allowed]
    free = {event: per_event - len(labels) for event, labels in enumerate(had)}
    given: list[list[Label]] = [list(labels) for labels in had]
    common = frozenset.intersection(*allowed) if allowed else frozenset()
    rare = [kind for kind in ErrorType if kind not in common]
    rare.sort(key=lambda kind: sum(kind in kinds for kinds in allowed))
    missing = 0
    for kind in rare:
        missing += _place(rng, kind, counts[kind], [e for e, kinds in enumerate(allowed) if kind in kinds], free, given)
    everywhere: Counter[Label] = Counter({label: count for label, count in counts.items() if label not in rare})
    for at in range(missing):
        everywhere[sorted(common)[at % len(common)]] += 1
    for label, count in everywhere.most_common():
        _place(rng, label, count, list(free), free, given)
    new = [labels[len(own) :] for labels, own in zip(given, had, strict=True)]
    _exchange_repeated(had, new, allowed)
    return [rng.sample(labels, len(labels)) for labels in new]


def _exchange_repeated(
    had: Sequence[Sequence[Label]], new: Sequence[list[Label]], allowed: Sequence[frozenset[ErrorType]]
) -> None:
    """Where an event got a label that it has already, exchange it for one of another event, if both can take it."""

    def takes(event: int, label: Label, without: Label) -> bool:
        others = [*had[event], *new[event]]
        others.remove(without)
        return label not in others and (label is None or label in allowed[event])

    for event, labels in enumerate(new):
        for at, label in enumerate(labels):
            if [*had[event], *labels].count(label) == 1:
                continue
            places = ((other, nth) for other, theirs in enumerate(new) for nth in range(len(theirs)))
            fitting = (
                (other, nth)
                for other, nth in places
                if takes(event, new[other][nth], label) and takes(other, label, new[other][nth])
            )
            if place := next(fitting, None):
                labels[at], new[place[0]][place[1]] = new[place[0]][place[1]], label


def _place(
    rng: random.Random, label: Label, count: int, events: Sequence[int], free: dict[int, int], given: list[list[Label]]
) -> int:
    """Give `label` to `count` of `events`, those that have it least first; returns how many found no free slot."""
    while count:
        fewest = min((given[event].count(label) for event in events if free[event]), default=None)
        if fewest is None:
            break
        open_events = [event for event in events if free[event] and given[event].count(label) == fewest]
        rng.shuffle(open_events)
        # Events with more room first, so that the last labels still find different events.
        open_events.sort(key=lambda event: -free[event])
        for event in open_events[:count]:
            given[event].append(label)
            free[event] -= 1
        count -= len(open_events[:count])
    return count
