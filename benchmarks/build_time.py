"""Time, CPU time and peak memory of building the closed world and EviLens-F, by number of cases.

.venv/bin/python benchmarks/build_time.py 1000 3000 10000

Each size is built from nothing in a temporary folder, as `eviflow data build --cases N` does it. Memory is the sum over
a stage's process and its children, looked at twice a second; pages that several processes share are divided among them.
"""

import sys
import tempfile
from pathlib import Path

from components.commands.building import build_folder, claim_folder, sized
from components.config.schema import Params

STAGES = ("world", "benchmark")


def main() -> None:
    print("cases   stage       wall s   wall ms/case   CPU ms/case   peak MB")
    for cases in map(int, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            params = sized(Params(), cases)
            costs = build_folder(params, claim_folder(Path(folder), params), lambda _: None, STAGES)
        for stage, cost in costs.items():
            print(
                f"{cases:6}  {stage:10}{cost.wall_s:9.1f}{1e3 * cost.wall_s / cases:14.1f}"
                f"{1e3 * cost.cpu_s / cases:14.1f}{cost.peak_bytes / 1e6:10.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
