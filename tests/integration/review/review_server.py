"""The review server as its users start it: a process, its links and its end."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from components.config.paths import Paths

ROOT = Path(__file__).parents[3]
PEOPLE = ("--reviewers", "ada,ben", "--adjudicator", "eve")
LINK = re.compile(r"(?:reviewer|adjudicator)\s+(\w+)\s+(http\S+)")


def eviflow(paths: Paths, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "components.cli", "--root", str(paths.root), "data", "review", *arguments]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}


class Server:
    """A running `eviflow data review`; its links by name once it is there."""

    def __init__(self, paths: Paths, *arguments: str, port: int = 0) -> None:
        self._log = paths.root / "server.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                eviflow(paths, "--port", str(port), *arguments),
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        self.output = ""
        while "Ctrl-C ends" not in self.output:
            line = self._process.stdout.readline()
            assert line, self.log
            self.output += line
        self.links = dict(LINK.findall(self.output))

    @property
    def port(self) -> int:
        return int(next(iter(self.links.values())).split(":")[2].split("/")[0])

    @property
    def log(self) -> str:
        return self._log.read_text()

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.send_signal(signal.SIGKILL)
        assert self._process.wait() == -signal.SIGKILL

    def interrupt(self) -> int:
        """Ctrl-C."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(timeout=30)

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
