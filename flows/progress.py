"""How far a stage's process is, as a Prefect progress artifact."""

import contextvars
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact

from components.config.paths import Paths
from components.progress import MIRROR

INTERVAL_S = 3.0
"""Between looks at how far it is."""


@contextmanager
def shown_progress(stage: str, paths: Paths) -> Iterator[dict[str, str]]:
    """Follow a process while the block runs; yields the variables that it must be given, so that it tells.

    A step that ends between two looks is not shown; a stage of several steps shows one after the other.
    """
    file = paths.work / f"progress/{stage}.json"
    file.unlink(missing_ok=True)
    ended = threading.Event()
    # The artifact belongs to the task that waits here.
    follow = contextvars.copy_context().run
    follower = threading.Thread(target=follow, args=(_follow, stage, file, ended), daemon=True)
    follower.start()
    try:
        yield {MIRROR: str(file)}
    finally:
        ended.set()
        follower.join()
        file.unlink(missing_ok=True)


def _follow(stage: str, file: Path, ended: threading.Event) -> None:
    artifact: UUID | None = None
    shown: dict[str, Any] | None = None
    while True:
        last = ended.wait(INTERVAL_S)
        told = json.loads(file.read_text("utf-8")) if file.exists() else None
        if told and told != shown:
            percent = 100 * told["done"] / max(told["total"], 1)
            if artifact is None:
                # Typed for callers in an event loop as well, who would have to await it.
                artifact = cast(UUID, create_progress_artifact(percent, f"{stage}-progress", told["text"]))
            else:
                update_progress_artifact(artifact, percent, told["text"])
            shown = told
        if last:
            return
