"""Time, CPU time and peak memory of building the closed world and EviLens-F, by number of cases.

.venv/bin/python benchmarks/build_time.py 1000 3000 10000

Each size is built from nothing in a temporary folder, with two pictures an event and three tenths of them supported,
as in `params.yaml`. Memory is the sum over the process and its children, sampled twice a second; pages that several
processes share count once for each.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from components.config.paths import Paths
from components.config.schema import BenchmarkParams, Params, WorldParams
from components.curation.build import build_benchmark, build_world

TEST_SHARE = 0.2
SAMPLE_S = 0.5


class Cost(NamedTuple):
    """What a child process came to."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def main() -> None:
    if sys.argv[1] == "--one":
        build(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
        return
    print("cases   stage       wall s   wall ms/case   CPU ms/case   peak MB")
    for cases in map(int, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            for stage in ("world", "benchmark"):
                cost = run(stage, cases, folder)
                print(
                    f"{cases:6}  {stage:10}{cost.wall_s:9.1f}{1e3 * cost.wall_s / cases:14.1f}"
                    f"{1e3 * cost.cpu_s / cases:14.1f}{cost.peak_bytes / 1e6:10.0f}",
                    flush=True,
                )


def params(cases: int) -> Params:
    """The settings of the demo, with more events."""
    events = cases // BenchmarkParams().images_per_event
    test = round(TEST_SHARE * events)
    return Params(world=WorldParams(train_events=events - test, test_events=test))


def build(stage: str, cases: int, folder: Path) -> None:
    """One stage, in this process."""
    result = (build_world if stage == "world" else build_benchmark)(params(cases), Paths(folder))
    print(f"  {result}", file=sys.stderr)


def run(stage: str, cases: int, folder: str) -> Cost:
    """One stage in a process of its own."""
    started, cpu, peak = time.perf_counter(), {}, 0
    with subprocess.Popen([sys.executable, "-m", "benchmarks.build_time", "--one", stage, str(cases), folder]) as child:
        top = psutil.Process(child.pid)
        while child.poll() is None:
            memory = 0
            for process in [top, *_children(top)]:
                try:
                    times = process.cpu_times()
                    memory += process.memory_info().rss
                except psutil.Error:
                    continue  # It ended while we looked.
                cpu[process.pid] = times.user + times.system
            peak = max(peak, memory)
            time.sleep(SAMPLE_S)
    if child.returncode:
        raise SystemExit(f"stage {stage} of {cases} cases failed")
    return Cost(time.perf_counter() - started, sum(cpu.values()), peak)


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


if __name__ == "__main__":
    main()
