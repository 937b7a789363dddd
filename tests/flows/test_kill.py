"""A cancelled flow leaves no process behind and no run open."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from components.config.flow_environment import flow_environment
from components.config.paths import Paths
from components.config.settings import Settings
from components.tracking.store import Store

ROOT = Path(__file__).parents[2]
PROGRAM = (
    "import sys; from flows.contract import StageRequest; from flows.stop import stop_politely;"
    "from flows.world_flow import world; stop_politely(); world(StageRequest(root=sys.argv[1]))"
)


@pytest.mark.slow
def test_a_cancelled_flow_leaves_no_process_and_no_open_run(checkout: Paths, store: Store) -> None:
    marker = checkout.root / "pid"
    (checkout.root / "make.py").write_text(
        "import os, time; open('pid.new', 'w').write(str(os.getpid())); os.rename('pid.new', 'pid'); time.sleep(600)"
    )
    checkout.work.mkdir()
    environment = os.environ | flow_environment(checkout, Settings()) | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(checkout.root)], env=environment)
    while not marker.exists():
        assert process.poll() is None
        time.sleep(0.1)
    started = psutil.Process(process.pid).children(recursive=True)
    assert int(marker.read_text()) in {child.pid for child in started}

    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=90) == 128 + signal.SIGTERM
    _, alive = psutil.wait_procs(started, timeout=15)
    assert not alive
    [run] = store.client.search_runs([store.experiment_id])
    assert run.info.status == "KILLED"
