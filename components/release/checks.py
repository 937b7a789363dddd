"""What stage `benchmark` has found out besides its counts, such as leakage or pixel-only baselines, as plain tables."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

COUNTED = ("splits", "screening", "screening_by_split")
"""Parts of the summary that the card shows in its own way."""


class CheckTable(NamedTuple):
    """One part of the summary."""

    name: str
    rows: tuple[tuple[str, str], ...]
    """What was measured, and the value."""


def benchmark_checks(summary: str) -> list[CheckTable]:
    """Every further part of `reports/data/benchmark.json` that holds a value; lists are left to the file."""
    parts = {name: value for name, value in json.loads(summary).items() if name not in COUNTED}
    tables = [CheckTable(name.replace("_", " "), tuple(_rows("", value))) for name, value in parts.items()]
    return [table for table in tables if table.rows]


def _rows(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _rows(f"{path} · {name}" if path else str(name), inner)
    elif isinstance(value, bool | int | float | str):
        yield path.replace("_", " ") or "value", _written(value)


def _written(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
