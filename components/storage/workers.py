"""Processes that work is shared out to; they end with the process that started them, however that ended."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context, parent_process


def open_workers(count: int, start: Callable[..., object], *given: object) -> ProcessPoolExecutor:
    """A pool of `count` fresh processes, in each of which `start(*given)` is called first; all of it is pickled."""
    return ProcessPoolExecutor(count, get_context("spawn"), initializer=partial(_start, start, *given))


def _start(start: Callable[..., object], *given: object) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    start(*given)


def _end_with_parent() -> None:
    """A process of a pool whose owner was killed would wait for work forever."""
    parent = parent_process()
    assert parent is not None, "only a process of a pool comes here"
    parent.join()
    os._exit(1)
