"""One writer per checkout: a second one is refused and told who holds it.

The first process locks `checkout.lock`. A stage process that it starts is part of it: it finds the holder's token in
its environment, and takes only `stage.lock`. The operating system frees both locks when a process dies, however it
dies, so a record left behind by a dead process is never taken for a holder.
A stage whose starter was killed ends itself (`_follow`): otherwise it would go on writing beside the next run.
"""

import os
import secrets
import shlex
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psutil
from filelock import FileLock, Timeout
from pydantic import ValidationError

from components.errors import PreflightError
from components.records.base import Record
from components.storage.atomic import write_json

TOKEN_VARIABLE = "EVIFLOW_LOCK_TOKEN"
"""Environment variable by which a stage process knows that the process which started it holds the checkout."""
ORPHAN_WAIT_S = 20.0
"""How long to wait for the stage of a killed run to end; it notices within a second."""
FOLLOW_INTERVAL_S = 0.5
GRACE_S = 5.0


class Holder(Record):
    """Who holds the checkout."""

    pid: int
    started: float
    """The process's start, seconds since the epoch: tells it from a later process with the same pid."""
    host: str
    command: str
    since: str
    """UTC, ISO 8601."""
    token: str


@contextmanager
def hold_checkout(work: Path, command: str | None = None) -> Iterator[Holder]:
    """Be the checkout's only writer, or part of the process that is, while the block runs.

    Args:
        work: the checkout's working folder (`Paths.work`).
        command: what to show a second process; by default this process's command line.

    Raises:
        PreflightError: another process holds the checkout.

    """
    work.mkdir(parents=True, exist_ok=True)
    starter = _read(work / "holder.json")
    if starter is not None and starter.token == os.environ.get(TOKEN_VARIABLE) and is_alive(starter):
        with _stage_lock(work, 0.0, _describe(command)):
            _follow(starter)
            yield starter
        return
    with _checkout_lock(work, _describe(command)) as holder:
        yield holder


def current_holder(work: Path) -> Holder | None:
    """Who holds the checkout now; None when nobody does."""
    lock = FileLock(work / "checkout.lock")
    try:
        with lock.acquire(blocking=False):
            return None
    except Timeout:
        return _read(work / "holder.json")
    except FileNotFoundError:
        return None


def is_alive(holder: Holder) -> bool:
    """Whether the very process that wrote the record still runs, as far as this machine can tell."""
    if holder.host != socket.gethostname():
        return True
    try:
        return abs(psutil.Process(holder.pid).create_time() - holder.started) < 1.0
    except psutil.Error:
        return False


@contextmanager
def _checkout_lock(work: Path, holder: Holder) -> Iterator[Holder]:
    lock, record = FileLock(work / "checkout.lock"), work / "holder.json"
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise PreflightError(_refusal(work, _read(record))) from None
    try:
        with _stage_lock(work, ORPHAN_WAIT_S, holder):
            pass
        write_json(record, holder)
        yield holder
    finally:
        record.unlink(missing_ok=True)
        lock.release()


@contextmanager
def _stage_lock(work: Path, wait_s: float, holder: Holder) -> Iterator[None]:
    """Be the only process that executes a stage."""
    lock, record = FileLock(work / "stage.lock"), work / "stage.json"
    try:
        lock.acquire(timeout=wait_s)
    except Timeout:
        raise PreflightError(_refusal(work, _read(record))) from None
    try:
        write_json(record, holder)
        yield
    finally:
        record.unlink(missing_ok=True)
        lock.release()


def _describe(command: str | None) -> Holder:
    process = psutil.Process()
    return Holder(
        pid=process.pid,
        started=process.create_time(),
        host=socket.gethostname(),
        command=command or shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        since=datetime.now(UTC).isoformat(timespec="seconds"),
        token=secrets.token_hex(16),
    )


def _read(path: Path) -> Holder | None:
    try:
        return Holder.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _refusal(work: Path, holder: Holder | None) -> str:
    if holder is None:
        return f"another eviflow process holds the checkout {work.parent}; wait until it has ended"
    return (
        f"the checkout {work.parent} is held by `{holder.command}` "
        f"(pid {holder.pid} on {holder.host}, since {holder.since}); wait until it has ended, or stop that process"
    )


def _follow(starter: Holder) -> None:
    """End this process soon after `starter` has died: politely first, so that it can clean up, then at once."""

    def watch() -> None:
        while is_alive(starter):
            time.sleep(FOLLOW_INTERVAL_S)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_S)
        os._exit(1)

    threading.Thread(target=watch, name="follow-starter", daemon=True).start()
