"""One writer per checkout, shown with real processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from components.errors import PreflightError
from components.storage.lock import TOKEN_VARIABLE, current_holder, hold_checkout

ROOT = Path(__file__).parents[3]
CHILD = Path(__file__).parent / "lock_child.py"


def start(work: Path, token: str = "") -> tuple[subprocess.Popen[str], str]:
    """A process that holds, or fails to hold, the checkout; and the first line that it says."""
    environment = os.environ | {TOKEN_VARIABLE: token, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, str(CHILD), str(work)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def stop(process: subprocess.Popen[str]) -> None:
    process.communicate("stop\n", timeout=30)


def test_a_second_writer_is_refused_and_told_who_holds_the_checkout(tmp_path: Path) -> None:
    process, _ = start(tmp_path)
    holder = current_holder(tmp_path)
    assert holder is not None
    with pytest.raises(PreflightError) as caught, hold_checkout(tmp_path):
        pass
    stop(process)
    for part in ("eviflow run", f"pid {process.pid}", holder.host, holder.since):
        assert part in str(caught.value)
    assert caught.value.exit_code == 3


def test_the_checkout_is_free_again_after_the_block(tmp_path: Path) -> None:
    with hold_checkout(tmp_path):
        assert current_holder(tmp_path) is not None
    assert current_holder(tmp_path) is None
    assert not (tmp_path / "holder.json").exists()
    with hold_checkout(tmp_path):
        pass


def test_a_killed_holder_does_not_block(tmp_path: Path) -> None:
    process, _ = start(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert (tmp_path / "holder.json").exists()
    with hold_checkout(tmp_path) as holder:
        assert holder.pid == os.getpid()


def test_a_stage_started_by_the_holder_is_part_of_it(tmp_path: Path) -> None:
    with hold_checkout(tmp_path, "eviflow run") as holder:
        process, said = start(tmp_path, holder.token)
        assert said == holder.token
        second, refusal = start(tmp_path, holder.token)
        assert refusal.startswith("refused: ")
        stop(second)
        stop(process)


def test_an_old_token_is_no_way_in(tmp_path: Path) -> None:
    with hold_checkout(tmp_path, "eviflow run"):
        process, said = start(tmp_path, "the token of an earlier run")
        stop(process)
    assert said.startswith("refused: ")


def test_a_stage_ends_when_its_starter_is_killed(tmp_path: Path) -> None:
    starter, token = start(tmp_path)
    stage, said = start(tmp_path, token)
    assert said == token
    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()
    assert stage.wait(timeout=30) != 0
    with hold_checkout(tmp_path):
        pass
