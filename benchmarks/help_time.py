"""How long `eviflow --help` takes, from a cold process, against the 1.5 s that the project allows.

.venv/bin/python benchmarks/help_time.py
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALLOWED_S = 1.5
ROUNDS = 9


def main() -> None:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        argv = [sys.executable, "-m", "components.cli", "--help"]
        subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - started)
    median = statistics.median(times)
    print(f"eviflow --help: median {median:.2f} s, worst {max(times):.2f} s of {ROUNDS}; allowed {ALLOWED_S} s")
    sys.exit(median > ALLOWED_S)


if __name__ == "__main__":
    main()
