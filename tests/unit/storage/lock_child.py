"""Holds a checkout until it is told to stop: `lock_child.py WORK`."""

import sys
from pathlib import Path

from components.errors import PreflightError
from components.storage.lock import hold_checkout

try:
    with hold_checkout(Path(sys.argv[1]), "eviflow run") as holder:
        print(holder.token, flush=True)
        sys.stdin.readline()
except PreflightError as error:
    print(f"refused: {error}", flush=True)
