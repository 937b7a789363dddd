"""EviLens-F's metrics, from one outcome for each case.

Balanced accuracy, macro precision, macro F1 and SESR as EviScene defines them: both classes count alike, denominators
are fixed by the cases (never by the answers), and a case without a usable verdict is a false negative of its class, no
false positive of the other.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.records.case import Verdict

CLASSES = (Verdict.SUPPORTED, Verdict.REFUTED)


class Result(IntEnum):
    """What became of one case."""

    MISSING = 0
    """There is no episode."""
    INVALID = 1
    """There is an episode without a verdict."""
    WRONG = 2
    RIGHT = 3
    """The right verdict on insufficient grounds."""
    STRONG = 4
    """The right verdict, and the judge calls its grounds strong."""


class Outcome(NamedTuple):
    """One scored case."""

    case_id: str
    gold: Verdict
    result: Result


def outcome(case_id: str, gold: Verdict, predicted: Verdict | None, *, strong: bool, missing: bool = False) -> Outcome:
    """Score one case; `strong` counts only together with the right verdict."""
    if missing:
        return Outcome(case_id, gold, Result.MISSING)
    if predicted is None:
        return Outcome(case_id, gold, Result.INVALID)
    if predicted is not gold:
        return Outcome(case_id, gold, Result.WRONG)
    return Outcome(case_id, gold, Result.STRONG if strong else Result.RIGHT)


def score(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """All metrics of one system, in 0..1, with the counts `n`, `invalid`, `missing`, `strong` and `wrong`.

    Raises:
        ValueError: a class has no case, so that balanced accuracy has no meaning.

    """
    tally = Counter((item.gold, item.result) for item in outcomes)
    counts = np.array([[tally[gold, result] for result in Result] for gold in CLASSES], dtype=np.int64)
    if (counts.sum(axis=1) == 0).any():
        raise ValueError("balanced accuracy needs at least one supported and one refuted case")
    totals = dict(zip(Result, counts.sum(axis=0).tolist(), strict=True))
    return {name: float(value) for name, value in rates(counts).items()} | {
        "n": float(counts.sum()),
        "missing": float(totals[Result.MISSING]),
        "invalid": float(totals[Result.INVALID]),
        "wrong": float(totals[Result.WRONG]),
        "strong": float(totals[Result.STRONG]),
    }


def rates(counts: NDArray[np.int64]) -> Mapping[str, NDArray[np.float64]]:
    """The rates behind `score` for counts of shape (..., class, result); every class must have a case."""
    total = counts.sum(axis=-1)
    true_positive = counts[..., [Result.RIGHT, Result.STRONG]].sum(axis=-1)
    # A wrong answer in one of two classes is a false positive of the other.
    false_positive = counts[..., ::-1, Result.WRONG]
    recall = true_positive / total
    predicted = true_positive + false_positive
    precision = np.divide(true_positive, predicted, out=np.zeros_like(recall), where=predicted > 0)
    f1 = 2 * true_positive / (true_positive + false_positive + total)
    return {
        "balanced_accuracy": recall.mean(axis=-1),
        "recall_supported": recall[..., 0],
        "recall_refuted": recall[..., 1],
        "macro_precision": precision.mean(axis=-1),
        "macro_f1": f1.mean(axis=-1),
        "sesr": counts[..., Result.STRONG].sum(axis=-1) / total.sum(axis=-1),
    }
