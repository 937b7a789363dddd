"""Which cases a benchmark is to have: exact quotas of faithful and altered pictures, spread over events by chance."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from components.config.schema import BenchmarkParams
from components.records.case import ErrorType, Split
from components.world.entities import Event, Facts


@dataclass(frozen=True)
class CasePlan:
    """One case before it is drawn."""

    case_id: str
    event: Event
    error_type: ErrorType | None
    """What is altered; None for a faithful picture."""
    titled: bool
    """Whether the event's title is printed."""
    seed: str
    """Everything by which the picture differs from others of its event follows from it."""


def plan_cases(facts: Facts, params: BenchmarkParams) -> list[CasePlan]:
    """Every case of both splits, in the order of their ids. Ids say nothing about events or labels."""
    return [plan for split in Split for plan in _plan_split(facts, params, split)]


def quotas(total: int, supported_share: float) -> dict[ErrorType | None, int]:
    """How many cases of each label: the share of faithful ones, the rest spread evenly over the error types."""
    supported = round(supported_share * total)
    each, left = divmod(total - supported, len(ErrorType))
    return {None: supported, **{kind: each + (index < left) for index, kind in enumerate(ErrorType)}}


def _plan_split(facts: Facts, params: BenchmarkParams, split: Split) -> list[CasePlan]:
    rng = random.Random(f"plan-{params.seed}-{split.value}")
    events = [event for event in facts.main_events if event.split is split]
    total = len(events) * params.images_per_event
    labels = _spread(rng, quotas(total, params.supported_share), params.images_per_event)
    untitled = set(rng.sample(range(total), round(params.untitled_share * total)))
    order = rng.sample(range(total), total)
    return [
        CasePlan(
            case_id=f"{split.value}-{number:05d}",
            event=events[slot // params.images_per_event],
            error_type=labels[slot],
            titled=slot not in untitled,
            seed=f"{params.seed}-{split.value}-{slot}",
        )
        for number, slot in enumerate(order)
    ]


def _spread(rng: random.Random, counts: dict[ErrorType | None, int], per_event: int) -> list[ErrorType | None]:
    """Labels in random order, exchanged until no event has the same twice, as far as chance allows."""
    labels = [label for label, count in counts.items() for _ in range(count)]
    rng.shuffle(labels)
    for _ in range(20 * len(labels)):
        clash = next((slot for slot in range(len(labels)) if _repeats(labels, slot, per_event)), None)
        if clash is None:
            break
        other = rng.randrange(len(labels))
        labels[clash], labels[other] = labels[other], labels[clash]
    return labels


def _repeats(labels: Sequence[ErrorType | None], slot: int, per_event: int) -> bool:
    first = slot - slot % per_event
    return labels[slot] in labels[first:slot]
