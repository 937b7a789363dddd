"""Which cases a benchmark is to have: exact quotas of faithful and altered pictures, spread over events by chance."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from components.config.schema import BenchmarkParams
from components.records.case import ErrorType, Split
from components.world.altering import possible
from components.world.entities import Event, Facts

Label = ErrorType | None
"""What is altered; None for a faithful picture."""

_NEEDS_TITLE = frozenset({ErrorType.EVENT_RECONTEXTUALIZATION, ErrorType.SPATIAL_ALTERATION})
"""Without a title, only a search by the picture leads to the event, and these scenes are not the event's own."""


@dataclass(frozen=True)
class CasePlan:
    """One case before it is drawn."""

    case_id: str
    event: Event
    error_type: Label
    titled: bool
    """Whether the event's title is printed."""
    seed: str
    """Everything by which the picture differs from others of its event follows from it."""


def plan_cases(facts: Facts, params: BenchmarkParams) -> list[CasePlan]:
    """Every case of both splits, in the order of their ids. Ids say nothing about events or labels."""
    return [plan for split in Split for plan in _plan_split(facts, params, split)]


def quotas(total: int, supported_share: float) -> dict[Label, int]:
    """How many cases of each label: the share of faithful ones, the rest spread evenly over the error types."""
    supported = round(supported_share * total)
    each, left = divmod(total - supported, len(ErrorType))
    return {None: supported, **{kind: each + (index < left) for index, kind in enumerate(ErrorType)}}


def _plan_split(facts: Facts, params: BenchmarkParams, split: Split) -> list[CasePlan]:
    rng = random.Random(f"plan-{params.seed}-{split.value}")
    events = [event for event in facts.main_events if event.split is split]
    total = len(events) * params.images_per_event
    allowed = [possible(event, facts) for event in events]
    per_event = params.images_per_event
    labels = _spread(rng, quotas(total, params.supported_share), allowed, per_event)
    found_by_looks = [slot for slot in range(total) if _can_be_untitled(events[slot // per_event], labels[slot])]
    untitled = _untitled(rng, labels, found_by_looks, params.untitled_share)
    order = rng.sample(range(total), total)
    return [
        CasePlan(
            case_id=f"{split.value}-{number:05d}",
            event=events[slot // per_event],
            error_type=labels[slot],
            titled=slot not in untitled,
            seed=f"{params.seed}-{split.value}-{slot}",
        )
        for number, slot in enumerate(order)
    ]


def _untitled(rng: random.Random, labels: Sequence[Label], open_to: Sequence[int], share: float) -> set[int]:
    """Slots without a title: the same share of faithful and of altered pictures, so that its lack tells nothing."""
    chosen: set[int] = set()
    for faithful in (True, False):
        slots = [slot for slot in open_to if (labels[slot] is None) is faithful]
        wanted = round(share * sum((label is None) is faithful for label in labels))
        chosen.update(rng.sample(slots, min(len(slots), wanted)))
    return chosen


def _can_be_untitled(event: Event, label: Label) -> bool:
    return event.photo_url is not None and label not in _NEEDS_TITLE


def _spread(
    rng: random.Random, counts: dict[Label, int], allowed: Sequence[frozenset[ErrorType]], per_event: int
) -> list[Label]:
    """A label for every slot, so that each event has what it can and nothing twice, as far as there are events for it.

    Types that few events can have are placed first; what finds no event goes to the types that every event can have.
    """
    free = dict.fromkeys(range(len(allowed)), per_event)
    given: list[list[Label]] = [[] for _ in allowed]
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
    return [label for event in given for label in rng.sample(event, len(event))]


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
