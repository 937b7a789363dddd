"""Where a stage stops spending: no investigation begins any more, and what has begun is brought to its end.

An investigation that is broken off has wasted what it spent, so those in flight go on, and the budget may be passed by
what they still need. To keep that small, an investigation begins only if those in flight and itself fit, should each
take as much as the dearest so far; the first goes alone, to tell how much that is.
"""

from collections.abc import Mapping, Sequence

from components.config.schema import BudgetLimit
from components.config.tools import PriceParams
from components.errors import BudgetReached
from components.rollout.spending import Spending


class Budget:
    """What one stage may spend, and what it has spent.

    Args:
        stage: as the settings name it.
        limit: in money, in requests, in both or in neither.
        spending: everything that counts.

    """

    def __init__(self, stage: str, limit: BudgetLimit, spending: Spending) -> None:
        self._stage = stage
        self._limit = limit
        self.spending = spending

    @property
    def reached(self) -> bool:
        """Whether nothing may begin any more."""
        spent = ((self.spending.usd, self._limit.usd), (self.spending.requests, self._limit.calls))
        return any(limit is not None and used >= limit for used, limit in spent)

    def has_room(self, live: Sequence[str], *, known: bool) -> bool:
        """Whether an investigation may begin.

        Args:
            live: ids of the episodes in flight.
            known: whether one has come to its end, so that it is known what one takes.

        """
        if not self._limit.any:
            return True
        self.spending.look()
        if not (live or self.reached):
            return True
        if self.reached or not known:
            return False
        money = _fits(self.spending.usd, self._limit.usd, self.spending.usd_of, live)
        return money and _fits(self.spending.requests, self._limit.calls, self.spending.requests_of, live)

    def error(self, finished: int, total: int) -> BudgetReached:
        """What to tell whoever set the budget."""
        spent = f"{self.spending.requests} requests and {self.spending.usd:.4f} USD"
        limits = [f"budget.{self._stage}_usd is {self._limit.usd:g}"] if self._limit.usd is not None else []
        limits += [f"budget.{self._stage}_calls is {self._limit.calls}"] if self._limit.calls is not None else []
        return BudgetReached(
            f"the budget of `{self._stage}` is spent, {spent} ({', '.join(limits)}), with {finished} of {total} "
            "episodes finished and kept; raise it in params.yaml and run the same command again to go on"
        )


def unlimited() -> Budget:
    """A budget without limit, whose account nobody reads."""
    return Budget("", BudgetLimit(usd=None, calls=None), Spending(PriceParams()))


def _fits(spent: float, limit: float | None, taken: Mapping[str, float], live: Sequence[str]) -> bool:
    """Whether one more fits beside those in flight, if each takes as much as the dearest so far."""
    if limit is None:
        return True
    dearest = max(taken.values(), default=0.0)
    return spent + sum(dearest - taken.get(name, 0.0) for name in live) + dearest <= limit
