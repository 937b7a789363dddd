import numpy as np
import pytest
import scipy.stats

from components.errors import EviflowError
from components.evaluation.bootstrap import intervals, paired_difference
from components.evaluation.metrics import Outcome, Result, score
from components.records.case import Verdict


def drawn_outcomes(seed: int, right: float, n: int = 120) -> list[Outcome]:
    rng = np.random.default_rng(seed)
    return [
        Outcome(
            f"c{i:03d}",
            Verdict.SUPPORTED if i % 3 == 0 else Verdict.REFUTED,
            Result.STRONG if rng.random() < right else Result.WRONG,
        )
        for i in range(n)
    ]


def test_the_interval_holds_the_score_and_is_reproducible() -> None:
    rows = drawn_outcomes(1, 0.8)
    first = intervals(rows, samples=500, confidence=0.95, seed=3)
    assert first == intervals(rows[::-1], samples=500, confidence=0.95, seed=3)
    for key, interval in first.items():
        assert interval.value == pytest.approx(score(rows)[key])
        assert interval.low <= interval.value <= interval.high
        assert interval.high - interval.low < 0.3


def test_it_agrees_with_scipy() -> None:
    rows = drawn_outcomes(2, 0.7)
    by_class = [
        np.array([item.result is Result.STRONG for item in rows if item.gold is gold], dtype=float) for gold in Verdict
    ]
    theirs = scipy.stats.bootstrap(
        by_class,
        lambda a, b, axis: (a.mean(axis=axis) + b.mean(axis=axis)) / 2,
        n_resamples=4000,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(5),
    ).confidence_interval
    ours = intervals(rows, samples=4000, confidence=0.95, seed=5)["balanced_accuracy"]
    assert ours.low == pytest.approx(theirs.low, abs=0.015)
    assert ours.high == pytest.approx(theirs.high, abs=0.015)


def test_pairing_takes_the_same_cases_of_both() -> None:
    rows = drawn_outcomes(3, 0.6)
    for interval in paired_difference(rows, rows[::-1], samples=200, confidence=0.9, seed=1).values():
        assert interval == (0.0, 0.0, 0.0)
    better = [item._replace(result=Result.STRONG) for item in rows]
    gain = paired_difference(better, rows, samples=500, confidence=0.95, seed=1)["sesr"]
    assert 0 < gain.low < gain.value < gain.high


def test_different_cases_are_not_compared() -> None:
    rows = drawn_outcomes(4, 0.5)
    with pytest.raises(EviflowError, match="same cases"):
        paired_difference(rows, rows[1:], samples=10, confidence=0.9, seed=1)


def test_a_class_of_one_case_is_enough() -> None:
    rows = [Outcome("a", Verdict.SUPPORTED, Result.WRONG), Outcome("b", Verdict.REFUTED, Result.RIGHT)]
    assert intervals(rows, samples=50, confidence=0.95, seed=0)["balanced_accuracy"] == (0.5, 0.5, 0.5)
