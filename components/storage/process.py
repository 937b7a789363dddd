"""A command in a process group of its own, which never outlives the caller's interest in it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import psutil

GRACE_S = 10.0
"""Between asking a group to end and ending it, where nobody says."""
_LOOK_S = 0.1


class Finished(NamedTuple):
    """How a command ended."""

    returncode: int
    errors: str
    """The last lines it wrote to standard error."""


def run_group(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, errors_only: bool = False, grace_s: float = GRACE_S
) -> Finished:
    """Run a command to its end, its output passed through as it comes; with `errors_only`, standard error alone.

    The command and all that it starts share one process group. When this call is left early, by a signal's exception
    or any other, the group is asked to end, and ended `grace_s` later; stragglers of a command that ended by itself are
    too.
    """
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env=dict(env),
        start_new_session=True,
        stdout=subprocess.DEVNULL if errors_only else None,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    tail: deque[bytes] = deque(maxlen=60)
    reader = threading.Thread(target=_pass_through, args=(process.stderr, tail), daemon=True)
    reader.start()
    try:
        returncode = process.wait()
    finally:
        end_group(process, grace_s if process.returncode is None else GRACE_S)
        reader.join(timeout=GRACE_S)
    return Finished(returncode, b"".join(tail).decode(errors="replace"))


def end_group(process: subprocess.Popen[bytes], grace_s: float = GRACE_S) -> None:
    """End every process of the group that `process` leads: SIGTERM, seconds of grace for all of them, SIGKILL."""
    if not _signal_group(process.pid, signal.SIGTERM):
        return
    deadline = time.monotonic() + grace_s
    try:
        # The leader may be gone long before those that it has started.
        while time.monotonic() < deadline and (process.poll() is None or _alive(process.pid)):
            time.sleep(_LOOK_S)
    finally:
        _signal_group(process.pid, signal.SIGKILL)
        process.wait()


def _alive(group: int) -> bool:
    """Whether a process of the group does anything any more."""
    for process in psutil.process_iter(["status"]):
        try:
            if os.getpgid(process.pid) == group and process.info["status"] != psutil.STATUS_ZOMBIE:
                return True
        except ProcessLookupError:
            continue
    return False


def _signal_group(group: int, number: signal.Signals) -> bool:
    """Send a signal; False when nobody is left to receive it."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def _pass_through(stream: IO[bytes], tail: deque[bytes]) -> None:
    for line in stream:
        tail.append(line)
        sys.stderr.write(line.decode(errors="replace"))
        sys.stderr.flush()
