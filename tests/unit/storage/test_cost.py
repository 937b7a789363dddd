import subprocess
import sys

from components.storage.cost import CostWatch

WORK = (
    "import time; data = bytearray(200_000_000); end = time.process_time() + 1\nwhile time.process_time() < end: pass"
)


def test_what_a_process_takes_is_seen() -> None:
    with CostWatch() as watch:
        subprocess.run([sys.executable, "-c", f"{WORK}\ntime.sleep(1.2)"], check=True)
    assert watch.cost.wall_s > 2
    assert watch.cost.cpu_s > 0.9
    assert 200_000_000 < watch.cost.peak_bytes < 400_000_000
