"""A stream of training metrics on its way to MLflow: in batches, since one call per point is forty times slower."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from mlflow.entities import Metric
from mlflow.utils.time import get_current_time_millis

from components.tracking.runs import last_step, log_points
from components.tracking.store import Store

FLUSH_INTERVAL_S = 5.0
FLUSH_POINTS = 1000


class MetricStream:
    """Collects points and writes them every few seconds; what is left is written when the block ends.

    Args:
        store: where to.
        run_id: the run that is logged to.
        key: a metric of every step. Steps that an earlier, killed process has logged are not logged again.
        checkpoint_steps: steps between checkpoints. What has led to a checkpoint is written with it: a resumed run
            does not pass through those steps again.

    """

    def __init__(self, store: Store, run_id: str, key: str, checkpoint_steps: int) -> None:
        self._store, self._run_id, self._checkpoint_steps = store, run_id, checkpoint_steps
        self._after = last_step(store, run_id, key)
        self._points: list[Metric] = []
        self._flushed = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.flush()

    def __call__(self, step: int, metrics: Mapping[str, float]) -> None:
        """Take the metrics of one step."""
        if step <= self._after:
            return
        now = get_current_time_millis()
        self._points.extend(Metric(key, float(value), now, step) for key, value in metrics.items())
        saved = step % self._checkpoint_steps == 0
        if saved or len(self._points) >= FLUSH_POINTS or time.monotonic() - self._flushed >= FLUSH_INTERVAL_S:
            self.flush()

    def flush(self) -> None:
        """Write everything collected so far."""
        log_points(self._store, self._run_id, self._points)
        self._points.clear()
        self._flushed = time.monotonic()
