"""The only place that calls DVC: always as a subprocess of this Python, with a deadline for its locks."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from components.errors import EviflowError, stage_failure
from components.storage.atomic import write_text
from components.storage.process import GRACE_S, run_group

LOCK_DEADLINE_S = 60.0
LOCK_RETRY_S = 1.0
_EXITED = re.compile(r"exited with (\d+)")
"""How DVC tells the exit code of a stage's command."""
_LOCKED = ("Unable to acquire lock", "is busy, it is being blocked by")


class Out(NamedTuple):
    """One output of a stage, or one added file or folder, as DVC has recorded it."""

    path: str
    digest: str
    """MD5, with the suffix `.dir` for a folder: 36 characters at most."""
    size: int
    """Bytes."""
    files: int = 1

    @property
    def is_folder(self) -> bool:
        """Whether the digest is that of a list of files."""
        return self.digest.endswith(".dir")


def recorded_out(entry: Mapping[str, Any], folder: str = "") -> Out:
    """The output that an entry of `dvc.lock`, or of a `*.dvc` file in `folder`, records."""
    return Out(f"{folder}{entry['path']}", entry["md5"], entry["size"], entry.get("nfiles", 1))


class DvcLockTimeout(EviflowError):
    """Another DVC process held the checkout for longer than the deadline."""


def repro(
    root: Path,
    stage: str,
    *,
    single: bool = False,
    env: Mapping[str, str] | None = None,
    lock_deadline_s: float = LOCK_DEADLINE_S,
    grace_s: float = GRACE_S,
) -> None:
    """Bring one stage, and unless `single` what it depends on, up to date.

    Standard error is passed through. Standard output, where DVC talks about git, is not: with `--quiet` it would keep
    errors to itself too.

    Args:
        root: the checkout.
        stage: its name in `dvc.yaml`.
        single: leave the stages it depends on alone.
        env: variables for the stage's command, besides this process's.
        lock_deadline_s: how long to wait for another DVC process to end.
        grace_s: how long the stage may take to end when this call is left early.

    Raises:
        DvcLockTimeout: another DVC process did not end in time.
        BudgetReached: the stage has spent its budget.
        Drained: somebody asked the stage itself to end.
        EviflowError: the stage failed.

    """
    allow_missing_git(root)
    argv = [sys.executable, "-m", "dvc", "repro", *(["--single-item"] if single else []), stage]
    deadline = time.monotonic() + lock_deadline_s
    while True:
        finished = run_group(argv, root, environment() | dict(env or {}), errors_only=True, grace_s=grace_s)
        if finished.returncode == 0:
            return
        if not any(mark in finished.errors for mark in _LOCKED):
            codes = _EXITED.findall(finished.errors)
            raise stage_failure(stage, int(codes[-1]) if codes else finished.returncode)
        _wait_or_give_up(root, deadline)


def status(root: Path) -> dict[str, Any]:
    """What `dvc repro` would have to do, by stage; empty when everything is up to date."""
    return dict(json.loads(_query(root, "status", "--json")))


def outs(root: Path, stage: str | None = None) -> list[Out]:
    """Outputs recorded in `dvc.lock`, of one stage or of all; none before the first run."""
    lock = root / "dvc.lock"
    if not lock.exists():
        return []
    stages = yaml.safe_load(lock.read_text("utf-8"))["stages"]
    chosen = stages.values() if stage is None else [stages[stage]] if stage in stages else []
    return [recorded_out(out) for entry in chosen for out in entry.get("outs", [])]


def settings(root: Path) -> dict[str, str]:
    """DVC's configuration of every level merged, `section.option` to value; paths in it are absolute."""
    lines = _query(root, "config", "--list").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def checkout(root: Path) -> None:
    """Make the data in the checkout those that `dvc.lock` and the `*.dvc` files record, from the cache.

    What lies there is replaced without asking, and what is not in the cache is left out without complaint, such as the
    output of a stage that `dvc.lock` does not have yet: the caller makes sure that nothing is lost or lacking.
    """
    _query(root, "checkout", "--force", "--allow-missing")


def commit(root: Path, stage: str) -> None:
    """Take what lies there as what `stage` has made, though nobody ran it."""
    _query(root, "commit", "--force", stage)


def environment() -> dict[str, str]:
    """The environment of this process, with this Python first on the path and DVC's telemetry off."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return os.environ | {"PATH": path, "DVC_NO_ANALYTICS": "1"}


def allow_missing_git(root: Path) -> None:
    """Let DVC work in a checkout that is no git repository, such as an unpacked archive."""
    if any((folder / ".git").exists() for folder in (root.resolve(), *root.resolve().parents)):
        return
    local = root / ".dvc/config.local"
    text = local.read_text("utf-8") if local.exists() else ""
    if "no_scm" not in text:
        write_text(local, text + "[core]\n    no_scm = true\n")


def _query(root: Path, *arguments: str) -> str:
    allow_missing_git(root)
    argv = [sys.executable, "-m", "dvc", *arguments]
    deadline = time.monotonic() + LOCK_DEADLINE_S
    while True:
        done = subprocess.run(argv, cwd=root, env=environment(), capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
        if not any(mark in done.stderr for mark in _LOCKED):
            raise EviflowError(f"`dvc {' '.join(arguments)}` failed in {root}: {done.stderr.strip()}")
        _wait_or_give_up(root, deadline)


def _wait_or_give_up(root: Path, deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise DvcLockTimeout(f"another DVC process holds {root} and does not end; stop it, or wait and run again")
    time.sleep(LOCK_RETRY_S)
