import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from components.storage.process import end_group, run_group

GRANDCHILD = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"


def gone(pid: int) -> bool:
    for _ in range(100):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.1)
    return False


def test_the_end_and_the_last_errors_are_returned(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(4)"
    finished = run_group([sys.executable, "-c", program], tmp_path, os.environ)
    assert finished == (4, "err\n")
    assert capfd.readouterr() == ("out\n", "err\n")


def test_nothing_that_a_command_started_outlives_it(tmp_path: Path) -> None:
    program = GRANDCHILD + "open('pid', 'w').write(str(p.pid))"
    assert run_group([sys.executable, "-c", program], tmp_path, os.environ).returncode == 0
    assert gone(int((tmp_path / "pid").read_text()))


def test_a_signal_to_the_caller_ends_the_whole_group(tmp_path: Path) -> None:
    inner = GRANDCHILD + "open('pid', 'w').write(str(p.pid)); p.wait()"
    outer = (
        "import os, pathlib, signal, sys; from components.storage.process import run_group\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\n"
        f"run_group([sys.executable, '-c', {inner!r}], pathlib.Path(sys.argv[1]), os.environ)"
    )
    process = subprocess.Popen([sys.executable, "-c", outer, str(tmp_path)], cwd=Path(__file__).parents[3])
    marker = tmp_path / "pid"
    while not marker.exists() or not marker.read_text():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 9
    assert gone(int(marker.read_text()))


def test_the_whole_group_is_given_time_to_end(tmp_path: Path) -> None:
    """A shell that starts the command is gone at once; the command itself still has something to finish."""
    worker = (
        "import pathlib, signal, sys, time\n"
        "def end(*_): time.sleep(1); pathlib.Path('ended').touch(); sys.exit()\n"
        "signal.signal(signal.SIGTERM, end); pathlib.Path('ready').touch(); time.sleep(600)"
    )
    (tmp_path / "worker.py").write_text(worker)
    leader = subprocess.Popen(["sh", "-c", f"{sys.executable} worker.py; true"], cwd=tmp_path, start_new_session=True)
    while not (tmp_path / "ready").exists():
        time.sleep(0.02)
    began = time.monotonic()
    end_group(leader, 30)
    assert (tmp_path / "ended").exists()
    assert time.monotonic() - began < 10, "nobody waits longer than it takes"
