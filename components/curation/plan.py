"""Which cases a benchmark is to have: exact quotas of faithful and altered pictures, spread over events by chance.

Some are collected: their pictures were found on the web. The quotas hold for both ways together, and for those that
are collected as far as enough was found.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from components.config.schema import BenchmarkParams
from components.curation.collecting.find import Found
from components.records.case import Split
from components.world.altering import possible
from components.world.entities import Event, Facts
from components.world.labels import Label, can_be_untitled, quotas, spread, untitled


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
    found: Found | None = None
    """Where the picture was found, and how its source was recovered; None for one that is to be drawn."""


def plan_cases(facts: Facts, params: BenchmarkParams, offered: Sequence[CasePlan] = ()) -> list[CasePlan]:
    """Every case of both splits, in the order of their ids. Ids say nothing about events, labels or where from.

    Args:
        facts: what is true.
        params: of the benchmark.
        offered: what may be collected, at most one of an event; without case ids.

    """
    return [plan for split in Split for plan in _plan_split(facts, params, split, offered)]


def _plan_split(facts: Facts, params: BenchmarkParams, split: Split, offered: Sequence[CasePlan]) -> list[CasePlan]:
    rng = random.Random(f"plan-{params.seed}-{split.value}")
    events = [event for event in facts.main_events if event.split is split]
    total = len(events) * params.images_per_event
    counts = quotas(total, params.supported_share)
    collected = _collected([plan for plan in offered if plan.event.split is split], params, split, total)
    slots = [*collected, *_constructed(rng, facts, params, events, collected, counts)]
    bare = _without_title(rng, slots, params.untitled_share)
    order = rng.sample(range(total), total)
    return [
        replace(slots[slot], case_id=f"{split.value}-{number:05d}", titled=slot not in bare)
        for number, slot in enumerate(order)
    ]


def _collected(offered: Sequence[CasePlan], params: BenchmarkParams, split: Split, total: int) -> list[CasePlan]:
    """The share of the cases that is collected, by the same quotas, as far as there is enough of each label."""
    rng = random.Random(f"collect-{params.seed}-{split.value}")
    chosen: list[CasePlan] = []
    for label, wanted in quotas(round(params.web_share * total), params.supported_share).items():
        usable = [plan for plan in offered if plan.error_type is label]
        chosen += rng.sample(usable, min(wanted, len(usable)))
    return chosen


def _constructed(
    rng: random.Random,
    facts: Facts,
    params: BenchmarkParams,
    events: Sequence[Event],
    collected: Sequence[CasePlan],
    counts: dict[Label, int],
) -> list[CasePlan]:
    """What the quotas lack beside what is collected, where events have room."""
    taken = [[plan.error_type for plan in collected if plan.event is event] for event in events]
    left = {label: count - sum(plan.error_type is label for plan in collected) for label, count in counts.items()}
    labels = spread(rng, left, [possible(event, facts) for event in events], params.images_per_event, taken)
    return [
        CasePlan("", event, label, True, f"{params.seed}-{event.split.value}-{at * params.images_per_event + nth}")
        for at, event in enumerate(events)
        for nth, label in enumerate(labels[at])
    ]


def _without_title(rng: random.Random, slots: Sequence[CasePlan], share: float) -> set[int]:
    """Slots without a title; for those that are collected it is as it is."""
    known = [slot for slot, plan in enumerate(slots) if plan.found and not plan.titled]
    open_to = [s for s, plan in enumerate(slots) if not plan.found and can_be_untitled(plan.event, plan.error_type)]
    return untitled(rng, [plan.error_type for plan in slots], open_to, share, known)
