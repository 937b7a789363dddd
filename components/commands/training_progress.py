"""How far a training is: a line now and then, on a terminal and in a log alike."""

import sys
import time
from collections.abc import Callable

INTERVAL_S = 15.0


class TrainingProgress:
    """Passes each step's metrics on, and prints where the training stands every few seconds and at its end.

    Args:
        steps: optimizer steps in all.
        forward: what else takes the metrics.

    """

    def __init__(self, steps: int, forward: Callable[[int, dict[str, float]], None]) -> None:
        self._steps, self._forward = steps, forward
        self._started = self._printed = time.monotonic()
        self._first: int | None = None

    def __call__(self, step: int, metrics: dict[str, float]) -> None:
        """Take the metrics of one step."""
        self._forward(step, metrics)
        if self._first is None:
            self._first = step
            if step > 1:
                print(f"sft: goes on after step {step - 1}", file=sys.stderr, flush=True)
        now = time.monotonic()
        if now - self._printed >= INTERVAL_S or step == self._steps:
            self._printed = now
            print(self._line(step, metrics), file=sys.stderr, flush=True)

    def _line(self, step: int, metrics: dict[str, float]) -> str:
        assert self._first is not None
        seconds = time.monotonic() - self._started
        left = seconds / (step - self._first + 1) * (self._steps - step)
        speed = metrics.get("train/tokens_per_second", 0.0)
        return (
            f"sft: step {step}/{self._steps}, loss {metrics['train/loss']:.3f}, {speed:,.0f} tokens/s, "
            f"{seconds:.0f} s gone, {left:.0f} s left"
        )
