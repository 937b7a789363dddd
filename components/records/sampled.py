"""What was sampled in an episode, as columns: ids and log-probabilities take a third of what they take as text.

A number that a column cannot hold to the last bit stays in the text, so that what is read is what was written.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

COLUMN = "sampled"
TYPE = pa.list_(
    pa.struct(
        [
            ("step", pa.int32()),
            ("token_ids", pa.list_(pa.int32())),
            ("logprobs", pa.list_(pa.float32())),
            ("top_ids", pa.list_(pa.list_(pa.int32()))),
            ("top_logprobs", pa.list_(pa.list_(pa.float32()))),
        ]
    )
)
"""One entry for each turn that has any, by the place of its step."""
NUMBERS = [
    f"{COLUMN}.list.element.{path}.list.element"
    for path in ("token_ids", "logprobs", "top_ids.list.element", "top_logprobs.list.element")
]
"""The columns of ids and log-probabilities, as Parquet calls them."""


def take_out(steps: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Move what columns can hold out of an episode's steps; returns the entries of `COLUMN`."""
    entries = [{"step": position} | _entry(step["turn"]) for position, step in enumerate(steps)]
    return [entry for entry in entries if len(entry) > 1]


def put_back(steps: Sequence[dict[str, Any]], sampled: Sequence[Mapping[str, Any]]) -> None:
    """Undo `take_out`."""
    for entry in sampled:
        turn = steps[entry["step"]]["turn"]
        for name in ("token_ids", "logprobs"):
            if entry[name] is not None:
                turn[name] = entry[name]
        if entry["top_ids"] is not None:
            pairs = zip(entry["top_ids"], entry["top_logprobs"], strict=True)
            turn["top_logprobs"] = [list(zip(ids, values, strict=True)) for ids, values in pairs]


def _entry(turn: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    if turn.get("token_ids") is not None and _whole(turn["token_ids"]):
        entry["token_ids"] = turn.pop("token_ids")
    if turn.get("logprobs") is not None and _single(turn["logprobs"]):
        entry["logprobs"] = turn.pop("logprobs")
    if turn.get("top_logprobs") is not None:
        ids = [[candidate[0] for candidate in one] for one in turn["top_logprobs"]]
        values = [[candidate[1] for candidate in one] for one in turn["top_logprobs"]]
        if all(map(_whole, ids)) and all(map(_single, values)):
            entry |= {"top_ids": ids, "top_logprobs": values}
            del turn["top_logprobs"]
    return entry


def _whole(values: Sequence[int | str]) -> bool:
    """Whether all are ids, and none is a token's text."""
    return all(isinstance(value, int) and -(2**31) <= value < 2**31 for value in values)


def _single(values: Sequence[float]) -> bool:
    """Whether single precision holds them to the last bit."""
    exact = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore"):
        return bool(np.array_equal(exact.astype(np.float32).astype(np.float64), exact))
