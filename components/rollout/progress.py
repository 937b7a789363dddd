"""How far a rollout is: a bar on a terminal, a line now and then in a log."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LOG_INTERVAL_S = 15.0


class RolloutProgress:
    """Shows finished episodes, their rate, the time left, and executed actions per second.

    Args:
        title: what is being run.
        total: episodes in all.
        finished: episodes that an earlier run has finished.

    """

    def __init__(self, title: str, total: int, finished: int = 0) -> None:
        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=total, completed=finished, speed="")
        self._title, self._total = title, total
        self._resumed, self._finished, self._actions = finished, finished, 0
        self._started = self._logged = time.monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        if self._resumed:
            self._console.print(f"{self._title}: {self._resumed} of {self._total} episodes were finished before")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        if error is None:
            self._console.print(self._line())

    def update(self, *, finished: int, actions: int) -> None:
        """Add newly finished episodes and newly executed actions."""
        self._finished += finished
        self._actions += actions
        self._bar.update(self._task, completed=self._finished, speed=self._speed())
        if self._bar.disable and time.monotonic() - self._logged >= LOG_INTERVAL_S:
            self._logged = time.monotonic()
            self._console.print(self._line())

    def _speed(self) -> str:
        seconds = max(time.monotonic() - self._started, 1e-6)
        return f"{(self._finished - self._resumed) / seconds:.1f} episodes/s, {self._actions / seconds:.0f} actions/s"

    def _line(self) -> str:
        seconds = time.monotonic() - self._started
        return f"{self._title}: {self._finished}/{self._total} episodes in {seconds:.0f} s, {self._speed()}"
