"""How far a long step is: a bar on a terminal, a line now and then in a log, a file for whoever started the process."""

import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

LOG_INTERVAL_S = 15.0
MIRROR = "EVIFLOW_PROGRESS"
"""The variable that names the file, where one is wanted."""
MIRROR_INTERVAL_S = 1.0

T = TypeVar("T")


class Progress:
    """Shows on stderr how many items are done, their rate, the time gone and the time left.

    Args:
        title: what is being done.
        total: items in all.
        unit: what the items are, in the plural.

    """

    def __init__(self, title: str, total: int, unit: str) -> None:
        self._console = Console(stderr=True, soft_wrap=True)
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=total, speed="")
        self._title, self._total, self._unit = title, total, unit
        self._resumed = self._done = 0
        self._note = ""
        self._started = self._logged = time.monotonic()
        self._mirror = Path(os.environ[MIRROR]) if MIRROR in os.environ else None
        self._mirrored = -MIRROR_INTERVAL_S

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        self._tell_starter()
        if error is None:
            self._say(f"{self._where()} in {self.seconds:.0f} s{self._speed()}")

    @property
    def seconds(self) -> float:
        """Time since the start, s; never zero."""
        return max(time.monotonic() - self._started, 1e-6)

    def resume(self, finished: int) -> None:
        """Say that an earlier run has finished some items; they do not count for the rate."""
        self._resumed = self._done = finished
        self._bar.update(self._task, completed=finished)
        self._say(f"{self._title}: {finished} of {self._total} {self._unit} were finished before")

    def reach(self, done: int, note: str = "") -> None:
        """Say that `done` items are finished in all, and what else is worth showing."""
        self._done, self._note = done, note
        self._bar.update(self._task, completed=done, speed=self._speed().removeprefix(", "))
        if self._bar.disable and time.monotonic() - self._logged >= LOG_INTERVAL_S:
            self._logged = time.monotonic()
            self._say(f"{self._where()}, {self.seconds:.0f} s gone{self._left()}{self._speed()}")
        if self.seconds - self._mirrored >= MIRROR_INTERVAL_S:
            self._tell_starter()

    def _tell_starter(self) -> None:
        """Write how far it is to the file, whole."""
        if self._mirror is None:
            return
        self._mirrored = self.seconds
        text = f"{self._where()}{self._left()}{self._speed()}"
        self._mirror.parent.mkdir(parents=True, exist_ok=True)
        beside = self._mirror.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps({"done": self._done, "total": self._total, "text": text}), "utf-8")
        beside.replace(self._mirror)

    def _where(self) -> str:
        return f"{self._title}: {self._done}/{self._total} {self._unit}"

    def _left(self) -> str:
        rate = (self._done - self._resumed) / self.seconds
        return f", {(self._total - self._done) / rate:.0f} s left" if rate else ""

    def _speed(self) -> str:
        rate = (self._done - self._resumed) / self.seconds
        return f", {rate:.1f} {self._unit}/s" + (f", {self._note}" if self._note else "")

    def _say(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False)


def track(items: Iterable[T], title: str, total: int, unit: str) -> Iterator[T]:
    """Yield `items` while showing how far it is."""
    with Progress(title, total, unit) as progress:
        for done, item in enumerate(items, start=1):
            yield item
            progress.reach(done)
