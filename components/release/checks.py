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
    """Every further part of `reports/data/benchmark.json` that holds a value; lists are left to the file.

    A value with its bounds, `low` and `high`, is one row.
    """
    parts = {name: value for name, value in json.loads(summary).items() if name not in COUNTED}
    tables = [CheckTable(name.replace("_", " "), tuple(_rows("", value))) for name, value in parts.items()]
    return [table for table in tables if table.rows]


def _rows(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and len(value) == 3 and {"low", "high"} < set(value):
        name = next(key for key in value if key not in ("low", "high"))
        estimate, low, high = (_written(value[key]) for key in (name, "low", "high"))
        yield f"{path} · {name}".replace("_", " "), f"{estimate} [{low}, {high}]"
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _rows(f"{path} · {name}" if path else str(name), inner)
    elif isinstance(value, bool | int | float | str):
        yield path.replace("_", " ") or "value", _written(value)


def _written(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) <= 1 else f"{value:.1f}"
    return str(value)
