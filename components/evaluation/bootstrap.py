"""Percentile bootstrap over cases, for one system and for the difference of two on the same cases.

Cases are drawn with replacement inside each class, so that the class sizes, which are the metrics' denominators, stay
what they are. `scipy.stats.bootstrap` is not used: it refuses a class of one case, and here one draw serves all
metrics.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.errors import EviflowError
from components.evaluation.metrics import CLASSES, Outcome, Result, rates


class Interval(NamedTuple):
    """An estimate and the bounds of its interval."""

    value: float
    low: float
    high: float


def intervals(outcomes: Sequence[Outcome], *, samples: int, confidence: float, seed: int) -> dict[str, Interval]:
    """The interval of every rate of one system."""
    ordered = sorted(outcomes)
    picks = _draw(ordered, samples, seed)
    return _bounds(_rates(ordered, _everything(ordered)), _rates(ordered, picks), confidence)


def paired_difference(
    system: Sequence[Outcome], reference: Sequence[Outcome], *, samples: int, confidence: float, seed: int
) -> dict[str, Interval]:
    """The interval of `system - reference` for every rate; each draw takes the same cases of both.

    Raises:
        EviflowError: the two were not scored on the same cases.

    """
    ours, theirs = sorted(system), sorted(reference)
    if [(item.case_id, item.gold) for item in ours] != [(item.case_id, item.gold) for item in theirs]:
        raise EviflowError("two systems can only be compared on the same cases; evaluate both again")
    picks, everything = _draw(ours, samples, seed), _everything(ours)
    point = {key: value - _rates(theirs, everything)[key] for key, value in _rates(ours, everything).items()}
    drawn = {key: value - _rates(theirs, picks)[key] for key, value in _rates(ours, picks).items()}
    return _bounds(point, drawn, confidence)


def _everything(outcomes: Sequence[Outcome]) -> list[NDArray[np.int64]]:
    return [np.flatnonzero([item.gold is gold for item in outcomes])[None] for gold in CLASSES]


def _draw(outcomes: Sequence[Outcome], samples: int, seed: int) -> list[NDArray[np.int64]]:
    """For each class, indexes of drawn cases of shape (samples, class size)."""
    rng = np.random.default_rng(seed)
    return [rng.choice(members[0], size=(samples, members.size)) for members in _everything(outcomes)]


def _rates(outcomes: Sequence[Outcome], picks: list[NDArray[np.int64]]) -> dict[str, NDArray[np.float64]]:
    results = np.array([item.result for item in outcomes])
    per_class = [np.stack([(results[drawn] == result).sum(axis=1) for result in Result], axis=-1) for drawn in picks]
    return dict(rates(np.stack(per_class, axis=1)))


def _bounds(
    point: dict[str, NDArray[np.float64]], drawn: dict[str, NDArray[np.float64]], confidence: float
) -> dict[str, Interval]:
    tail = (1 - confidence) / 2
    bounds = {key: np.quantile(values, [tail, 1 - tail]) for key, values in drawn.items()}
    return {key: Interval(float(point[key][0]), float(low), float(high)) for key, (low, high) in bounds.items()}
