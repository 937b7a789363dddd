"""What a piece of work costs: time, CPU time and memory of every process that it starts."""

import threading
import time
from types import TracebackType
from typing import NamedTuple, Self

import psutil

SAMPLE_S = 0.5


class Cost(NamedTuple):
    """What it came to."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    """Of all processes together; what several share is divided among them, where the system tells."""


class CostWatch:
    """Watches the processes that this one starts while the block runs; what they do between two looks is missed."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._cpu: dict[tuple[int, float], float] = {}
        self._peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="cost-watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def cost(self) -> Cost:
        """What it has come to so far."""
        return Cost(time.monotonic() - self._started, sum(self._cpu.values()), self._peak)

    def _watch(self) -> None:
        this = psutil.Process()
        while not self._ended.wait(SAMPLE_S):
            self._peak = max(self._peak, sum(map(self._look, this.children(recursive=True))))

    def _look(self, process: psutil.Process) -> int:
        """Note a process's CPU time; returns its bytes, none when it has ended meanwhile."""
        try:
            times, memory = process.cpu_times(), process.memory_full_info()
            self._cpu[process.pid, process.create_time()] = times.user + times.system
        except psutil.Error:
            return 0
        return int(getattr(memory, "pss", memory.rss))
