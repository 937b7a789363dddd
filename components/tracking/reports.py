"""The small JSON reports of data stages as metrics."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.config.paths import Paths
from components.storage.dvc import Out

_OTHER = re.compile(r"[^\w./ -]")


def report_metrics(paths: Paths, stage: str, made: Sequence[Out]) -> dict[str, float]:
    """Every number of the stage's report as `data/<stage>/<key>/..`, and the size of what the stage made."""
    metrics = {f"data/{stage}/bytes": float(sum(out.size for out in made))}
    path = paths.metrics / f"{stage}.json"
    if path.exists():
        metrics.update(_numbers(f"data/{stage}", json.loads(path.read_text("utf-8"))))
    return metrics


def _numbers(prefix: str, value: Any) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(f"{prefix}/{key}", inner)
    elif isinstance(value, int | float):
        # MLflow takes few characters in a key; a reason such as `judge:not_seen` has another.
        yield _OTHER.sub(".", prefix), float(value)
