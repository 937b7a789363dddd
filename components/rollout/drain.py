"""How a rollout is asked to end: what has begun comes to its end, and nothing more begins."""

import asyncio
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from components.errors import Drained

PATIENCE_S = 300.0
"""Seconds that investigations in flight are given, where nobody says."""
LOOK_S = 1.0
"""Between looks for the file that asks."""


class Drain:
    """Whether a rollout has been asked to end.

    Args:
        patience_s: seconds that investigations in flight are given.
        flag: a file that asks by being there, for workers that no signal reaches.

    """

    def __init__(self, patience_s: float = PATIENCE_S, flag: Path | None = None) -> None:
        self.patience_s = patience_s
        self.flag = flag
        self.asked = False
        self._working: Sequence[asyncio.Task[None]] = ()

    def give_up_with(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Cancel `tasks` when patience is at an end."""
        self._working = tasks

    def ask(self) -> None:
        """Ask for the end; called in the event loop."""
        if self.asked:
            return
        self.asked = True
        print(f"eviflow: ending; investigations in flight have {self.patience_s:g} s to finish", file=sys.stderr)
        asyncio.get_running_loop().call_later(self.patience_s, self._give_up)

    def error(self, finished: int, total: int) -> Drained:
        """What to tell whoever has asked."""
        return Drained(
            f"ended on request with {finished} of {total} episodes finished and kept; run the same command again to go "
            "on"
        )

    def _give_up(self) -> None:
        for task in self._working:
            task.cancel()


@asynccontextmanager
async def drainable(drain: Drain) -> AsyncIterator[None]:
    """Let SIGTERM or the file ask for the end while the block runs.

    A second SIGTERM ends the process as it would have before. Outside the main thread there is only the file, since
    signals come to the main thread alone.
    """
    watch = asyncio.create_task(_watch(drain)) if drain.flag else None
    undo = _listen(drain) if threading.current_thread() is threading.main_thread() else None
    try:
        yield
    finally:
        if watch:
            watch.cancel()
        if undo:
            undo()


def _listen(drain: Drain) -> Callable[[], None]:
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)

    def undo() -> None:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, before)

    def asked() -> None:
        undo()
        drain.ask()

    loop.add_signal_handler(signal.SIGTERM, asked)
    return undo


async def _watch(drain: Drain) -> None:
    assert drain.flag is not None
    while not drain.flag.exists():
        await asyncio.sleep(LOOK_S)
    drain.ask()
