import json
import subprocess
import sys

WORK = (
    "import time; data = bytearray(200_000_000); end = time.process_time() + 1\n"
    "while time.process_time() < end: pass\n"
    "time.sleep(1.2)"
)
WATCHING = f"""
import json, subprocess, sys
from components.storage.cost import CostWatch
with CostWatch() as watch:
    subprocess.run([sys.executable, "-c", {WORK!r}], check=True)
print(json.dumps(watch.cost))
"""


def test_what_a_process_takes_is_seen() -> None:
    # In a process of its own, which has no other children than this one.
    done = subprocess.run([sys.executable, "-c", WATCHING], capture_output=True, text=True, check=True)
    wall, cpu, peak = json.loads(done.stdout)
    assert wall > 2
    assert cpu > 0.9
    assert 200_000_000 < peak < 400_000_000
