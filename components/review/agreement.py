"""How far two reviewers agree beyond chance: Cohen's kappa, with a percentile bootstrap over items."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from components.records.base import Record

SAMPLES, CONFIDENCE, SEED = 2000, 0.95, 0


class Agreement(Record):
    """What two reviewers' decisions on the same items have in common."""

    items: int
    """Decided by both."""
    share: float
    """Of the items, with the same choice."""
    kappa: float | None
    """None where it is not defined: both gave one and the same choice throughout."""
    low: float | None = None
    """Bounds of the bootstrap interval; None where kappa is."""
    high: float | None = None


def measure(first: Sequence[str], second: Sequence[str]) -> Agreement | None:
    """The agreement of two reviewers' choices, item by item; None without an item.

    Items are drawn with replacement: a draw of items is a draw of cells of the table of both choices.
    """
    if not first:
        return None
    table = crossed(first, second)
    value = float(kappas(table[None])[0])
    share = float(np.trace(table) / table.sum())
    if np.isnan(value):
        return Agreement(items=len(first), share=share, kappa=None)
    cells = np.random.default_rng(SEED).multinomial(len(first), (table / table.sum()).ravel(), size=SAMPLES)
    drawn = kappas(cells.reshape(SAMPLES, *table.shape))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.nanquantile(drawn, [tail, 1 - tail])
    return Agreement(items=len(first), share=share, kappa=value, low=float(low), high=float(high))


def crossed(first: Sequence[str], second: Sequence[str]) -> NDArray[np.int64]:
    """How often each pair of choices occurs, shape (choices, choices)."""
    names = {name: index for index, name in enumerate(sorted({*first, *second}))}
    table = np.zeros((len(names), len(names)), dtype=np.int64)
    for one, other in zip(first, second, strict=True):
        table[names[one], names[other]] += 1
    return table


def kappas(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Cohen's kappa of each table, shape (tables, choices, choices); nan where chance alone agrees always."""
    total = tables.sum(axis=(1, 2))
    observed = np.trace(tables, axis1=1, axis2=2) / total
    chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / total**2
    undefined = chance >= 1.0
    return np.where(undefined, np.nan, (observed - chance) / np.where(undefined, 1.0, 1.0 - chance))
