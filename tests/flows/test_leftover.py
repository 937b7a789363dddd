"""What a killed run leaves behind is ended by the next one, and nothing else is."""

import subprocess
import sys
from pathlib import Path

import psutil

from components.config.paths import Paths
from flows.leftover import end_leftover_server, remember_server

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def test_the_server_of_a_killed_run_is_ended(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    server = subprocess.Popen([*SLEEP, "prefect.server.api.server:create_app"])
    other = subprocess.Popen(SLEEP)
    remember_server(paths)

    end_leftover_server(paths)

    assert not psutil.pid_exists(server.pid)
    server.wait()
    assert other.poll() is None
    other.kill()
    other.wait()


def test_a_server_that_has_ended_by_itself_is_forgotten(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    server = subprocess.Popen([*SLEEP, "prefect.server.api.server:create_app"])
    remember_server(paths)
    server.kill()
    server.wait()

    end_leftover_server(paths)
    end_leftover_server(paths)

    assert not (paths.work / "prefect-server.json").exists()
