"""What tells labels apart without looking: where a row stands, its number, how large its file is.

Every test is two-sided and asks for so small a probability that a fair benchmark hardly ever fails one.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats

_CHANCE = 1e-6
"""A pattern is called one when chance makes it this rarely."""
_SEPARATION = 0.1
"""How far the area under the curve may be from a half for a number that is only weakly related to labels."""
_PERIODS = range(2, 8)


def order_giveaways(labels: Sequence[str], ids: Sequence[str]) -> Iterator[str]:
    """How labels follow from the order of rows or from the numbers in ids: one sentence for each pattern found."""
    numbers = [int(found.group()) if (found := re.search(r"\d+$", name)) else at for at, name in enumerate(ids)]
    for what, values in (("rows", list(range(len(labels)))), ("ids", numbers)):
        ordered = [label for _, label in sorted(zip(values, labels, strict=True))]
        yield from _trends(what, values, labels)
        yield from _periods(what, values, labels)
        if _neighbours_related(ordered):
            yield f"labels of neighbouring {what} are related"


def value_giveaways(name: str, values: Sequence[float], labels: Sequence[str]) -> Iterator[str]:
    """How a number, such as a file's size, tells labels apart."""
    numbers = np.asarray(values, float)
    for label in sorted(set(labels)):
        own = np.array([other == label for other in labels])
        found = _separation(numbers, own)
        if found is not None and abs(found[0] - 0.5) > _SEPARATION and found[1] < _CHANCE:
            yield f"{name} tells {label} apart (area under the curve {found[0]:.2f})"


def kind_giveaways(name: str, values: Sequence[str], labels: Sequence[str]) -> Iterator[str]:
    """How a kind of thing, such as the dimensions of a picture, goes with labels."""
    if _contingency(values, labels) < _CHANCE:
        yield f"{name} goes with the label"


def _trends(what: str, values: Sequence[int], labels: Sequence[str]) -> Iterator[str]:
    for label in sorted(set(labels)):
        found = _separation(np.asarray(values, float), np.array([other == label for other in labels]))
        if found is not None and found[1] < _CHANCE:
            yield f"{label} stands towards one end of the {what}"


def _periods(what: str, values: Sequence[int], labels: Sequence[str]) -> Iterator[str]:
    for period in _PERIODS:
        if _contingency([str(value % period) for value in values], labels) < _CHANCE:
            yield f"labels go with {what} modulo {period}"
            return


def _separation(values: np.ndarray, own: np.ndarray) -> tuple[float, float] | None:
    """Area under the curve and its probability by chance (Mann and Whitney); None without two classes."""
    if own.all() or not own.any():
        return None
    tested = stats.mannwhitneyu(values[own], values[~own])
    return float(tested.statistic / (own.sum() * (~own).sum())), float(tested.pvalue)


def _contingency(values: Sequence[str], labels: Sequence[str]) -> float:
    """How probable such a table of values and labels is by chance; 1 when either is always the same."""
    names, kinds = sorted(set(values)), sorted(set(labels))
    if min(len(names), len(kinds)) < 2:
        return 1.0
    counted = Counter(zip(values, labels, strict=True))
    table = np.array([[counted[name, kind] for kind in kinds] for name in names])
    if min(len(names), len(kinds)) == 2 == max(len(names), len(kinds)):
        return float(stats.fisher_exact(table).pvalue)
    return float(stats.chi2_contingency(table).pvalue) if stats.contingency.expected_freq(table).min() >= 1 else 1.0


def _neighbours_related(labels: Sequence[str]) -> bool:
    """Whether neighbours have equal labels more or less often than in a random order, by far."""
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    if len(codes) < 3 or not np.ptp(codes):
        return False
    rng = np.random.default_rng(0)
    shuffled = rng.permuted(np.tile(codes, (500, 1)), axis=1)
    expected = (shuffled[:, 1:] == shuffled[:, :-1]).sum(axis=1)
    deviations = ((codes[1:] == codes[:-1]).sum() - expected.mean()) / max(float(expected.std()), 1e-6)
    return bool(2 * stats.norm.sf(abs(deviations)) < _CHANCE)
