"""`eviflow data build` into a folder of its own: killed while it reads pictures, gone on with, held against another."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from components.commands.stages import find_stage
from components.config.paths import Paths
from components.storage.identity import digest_tree

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
ROOT = Path(__file__).parents[3]
PATIENCE_S = 900
CASES = 24


def start(folder: Path) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "components.cli", "data", "build", "--cases", str(CASES), "--into", str(folder)]
    environment = os.environ | {"COLUMNS": "160"}
    return subprocess.Popen(
        argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def build(folder: Path) -> str:
    process = start(folder)
    printed, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, printed
    return printed


def readings(folder: Path) -> dict[str, int]:
    """When each picture's printed text was written to the cache, by its file."""
    files = (Paths(folder).cache / "ocr").rglob("*.json")
    return {str(file): file.stat().st_mtime_ns for file in files}


def made(folder: Path) -> dict[str, str]:
    names = [name for stage in ("world", "benchmark", "panel") for name in find_stage(stage).outputs]
    return {name: digest_tree(folder / name) for name in (*names, "reports/data/benchmark.json")}


def kill_while_reading(folder: Path) -> tuple[dict[str, int], list[psutil.Process]]:
    """Kill a build that has read some pictures; returns what it had read, and the processes that it had started."""
    process = start(folder)
    deadline = time.monotonic() + PATIENCE_S
    while len(readings(folder)) < 4:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    started = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    return readings(folder), started


def test_a_killed_build_goes_on_and_makes_what_an_undisturbed_one_makes(tmp_path: Path) -> None:
    disturbed, whole = tmp_path / "disturbed", tmp_path / "whole"
    read, started = kill_while_reading(disturbed)
    assert psutil.wait_procs(started, timeout=60)[1] == []
    printed = build(disturbed)
    assert "world: finished before" in printed
    assert "benchmark: finished before" not in printed
    after = readings(disturbed)
    assert len(after) > len(read)
    assert {file: after[file] for file in read} == read
    assert not list((disturbed / "data").rglob("*.tmp"))
    assert "for all processes together" in build(whole)
    assert made(disturbed) == made(whole)
    assert all(made(whole).values())
    assert "everything was finished before" in build(whole)
