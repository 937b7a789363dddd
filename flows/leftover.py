"""Prefect's embedded server outlives a run that is killed outright. The next run ends it; Prefect is not loaded yet."""

import contextlib
from pathlib import Path

import psutil
from pydantic import BaseModel, ValidationError

from components.config.paths import Paths
from components.storage.atomic import write_json

GRACE_S = 5.0


class Server(BaseModel):
    """A server process that this checkout's run has started."""

    pid: int
    started: float
    """Tells it from a later process with the same pid."""


def remember_server(paths: Paths) -> None:
    """Note the embedded server that Prefect has started for this process, if there is one."""
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if any("prefect.server" in part for part in child.cmdline()):
                write_json(_path(paths), Server(pid=child.pid, started=child.create_time()))


def end_leftover_server(paths: Paths) -> None:
    """End the server that a killed run has left behind; called by the holder of the checkout alone."""
    try:
        server = Server.model_validate_json(_path(paths).read_bytes())
        process = psutil.Process(server.pid)
        if abs(process.create_time() - server.started) > 1.0:
            return
        process.terminate()
        process.wait(GRACE_S)
    except (FileNotFoundError, ValidationError, psutil.NoSuchProcess):
        return
    except psutil.TimeoutExpired:
        process.kill()
    finally:
        _path(paths).unlink(missing_ok=True)


def _path(paths: Paths) -> Path:
    return paths.work / "prefect-server.json"
