"""`eviflow` called in a checkout as users call it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from components.config.paths import Paths


class Checkout:
    """A checkout in which `eviflow` is called as users call it."""

    def __init__(self, root: Path) -> None:
        self.paths = Paths(root)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `eviflow`; the caller waits for it."""
        argv: Sequence[str] = [sys.executable, "-m", "components.cli", *arguments]
        return subprocess.Popen(
            argv,
            cwd=self.paths.root,
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str) -> str:
        """Call `eviflow`, insist that it succeeds, and return what it printed."""
        process = self.start(*arguments)
        printed, _ = process.communicate(timeout=1500)
        assert process.returncode == 0, printed
        return printed


def clean_environment() -> dict[str, str]:
    """Without settings that would lead a run away from its checkout."""
    left_out = ("MLFLOW_", "PREFECT_", "EVIFLOW_", "PYTHONPATH")
    return {key: value for key, value in os.environ.items() if not key.startswith(left_out)} | {"COLUMNS": "160"}
