"""How a rollout is asked to end: SIGTERM lets what has begun come to its end, and nothing more begin."""

import asyncio
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from components.errors import Drained

PATIENCE_S = 300.0
"""Seconds that investigations in flight are given, where nobody says."""


class Drain:
    """Whether a rollout has been asked to end.

    Args:
        patience_s: seconds that investigations in flight are given.

    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self.patience_s = patience_s
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

    def _give_up(self) -> None:
        for task in self._working:
            task.cancel()

    def error(self, finished: int, total: int) -> Drained:
        """What to tell whoever has asked."""
        return Drained(
            f"ended on request with {finished} of {total} episodes finished and kept; run the same command again to go "
            "on"
        )


@contextmanager
def drained_by_sigterm(drain: Drain) -> Iterator[None]:
    """Let SIGTERM ask for the end while the block runs; a second one ends the process as it would have before.

    Call it in the event loop. Outside the main thread nothing changes, since signals come to the main thread alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)

    def asked() -> None:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, before)
        drain.ask()

    loop.add_signal_handler(signal.SIGTERM, asked)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, before)
