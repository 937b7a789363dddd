"""Rows in Parquet shards: `rows-*` to train on, and `action_only-*` with the episodes that have calls without thoughts.

The layout's version is in each file's metadata, `eviflow.sft_rows`. Rows are read by this module alone, which guesses
no column and adds none.
"""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from components.errors import EviflowError
from components.records.base import Record
from components.storage.parquet_shards import ParquetShards, shards_in
from components.training.row_record import REMEDY, Picture, RowRecord, RowsHash
from components.training.rows import Span
from components.training.spans import SpanName

VERSION = 1
"""Of the layout: columns, names of spans, and what the hash is taken over."""
TRAINING, ACTION_ONLY = "rows", "action_only"
"""What the shards are named after."""
_VERSION_KEY = b"eviflow.sft_rows"
_SHARD_BYTES, _GROUP_ROWS, _GROUP_BYTES = 96 * 10**6, 64, 16 * 10**6
_TOKEN_BYTES = 8
"""Of an id and its weight; compressed they take a fraction."""


def _needed(name: str, kind: Any) -> Any:
    return pa.field(name, kind, nullable=False)


_SPAN = pa.struct(
    [
        _needed("name", pa.string()),
        _needed("start", pa.int32()),
        _needed("end", pa.int32()),
        pa.field("step", pa.int32()),
        _needed("weight", pa.float32()),
    ]
)
_PICTURE = pa.struct(
    [
        _needed("sha256", pa.string()),
        _needed("grid", pa.list_(pa.int32(), 3)),
        _needed("start", pa.int32()),
        _needed("tokens", pa.int32()),
    ]
)
SCHEMA = pa.schema(
    [
        _needed("row_id", pa.string()),
        _needed("episode_id", pa.string()),
        _needed("case_id", pa.string()),
        _needed("part", pa.int32()),
        _needed("token_ids", pa.list_(pa.int32())),
        _needed("weights", pa.list_(pa.float32())),
        _needed("spans", pa.list_(_SPAN)),
        _needed("images", pa.list_(_PICTURE)),
        _needed("length", pa.int32()),
        _needed("supervised_tokens", pa.int32()),
        pa.field("verdict", pa.string()),
        _needed("tool_calls", pa.int32()),
        _needed("bucket", pa.string()),
    ],
    metadata={_VERSION_KEY: str(VERSION).encode()},
)
"""The columns, as `RowRecord` explains them."""


class ShardsReport(Record):
    """What a set of shards holds."""

    sha256: str
    """Over the content of its rows, see `RowsHash`."""
    rows: int
    """All of them were checked: each has exactly as many placeholders as features, where it says they are."""
    tokens: int
    placeholders: int
    """Of pictures."""
    features: int
    """Of pictures, by their grids."""


class RowWriter:
    """Writes rows into the shards of a staging folder, each checked; use it as a context.

    Args:
        folder: holds no such shards yet.
        stem: `TRAINING` or `ACTION_ONLY`.
        image_id: id of the picture placeholder.
        merge_size: how many patches of each direction make a feature.

    """

    def __init__(self, folder: Path, stem: str, image_id: int, merge_size: int) -> None:
        layout = {"limit": _SHARD_BYTES, "group_rows": _GROUP_ROWS, "group_bytes": _GROUP_BYTES}
        self._shards = ParquetShards(folder, stem, SCHEMA, **layout, compression="zstd")
        self._hash = RowsHash()
        self._image_id, self._merge_size = image_id, merge_size
        self._tokens = self._placeholders = self._features = 0

    def __enter__(self) -> Self:
        self._shards.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shards.__exit__(kind, error, trace)

    def append(self, record: RowRecord) -> None:
        """Write one row; raises EviflowError if its placeholders are not as many as its features."""
        record.check(self._image_id, self._merge_size)
        self._hash.add(record)
        self._tokens += record.length
        self._placeholders += record.token_ids.count(self._image_id)
        self._features += record.features(self._merge_size)
        self._shards.append(_columns(record), _TOKEN_BYTES * record.length)

    @property
    def report(self) -> ShardsReport:
        """Of the rows so far."""
        return ShardsReport(
            sha256=self._hash.hexdigest(),
            rows=self._shards.rows,
            tokens=self._tokens,
            placeholders=self._placeholders,
            features=self._features,
        )


def iterate_rows(folder: Path, stem: str) -> Iterator[RowRecord]:
    """The rows of a set of shards, in order, without holding more than a group of them.

    Raises:
        EviflowError: a shard is missing, has other columns, or is of another layout.

    """
    for file in shards_in(folder, stem):
        with pq.ParquetFile(file) as parquet:
            _check_layout(file, parquet.schema_arrow)
            for batch in parquet.iter_batches(batch_size=_GROUP_ROWS):
                yield from map(_record, batch.to_pylist())


def find_rows(folder: Path, wanted: str) -> list[RowRecord]:
    """The row of a number (0-based, rows to train on first) or of an id, or all rows of an episode; empty for none."""
    shards = [(file, stem) for stem in (TRAINING, ACTION_ONLY) for file in shards_in(folder, stem)]
    before = 0
    found: dict[str, RowRecord] = {}
    for file, _ in shards:
        with pq.ParquetFile(file) as parquet:
            _check_layout(file, parquet.schema_arrow)
            for group in range(parquet.num_row_groups):
                names = parquet.read_row_group(group, columns=["row_id", "episode_id"]).to_pylist()
                places = [
                    at
                    for at, name in enumerate(names)
                    if wanted in (str(before + at), name["row_id"], name["episode_id"])
                ]
                if places:
                    rows = parquet.read_row_group(group).take(places).to_pylist()
                    found |= {record.row_id: record for record in map(_record, rows)}
                before += len(names)
    return list(found.values())


def count_rows(folder: Path) -> int:
    """How many rows there are, those of both kinds."""
    return sum(pq.read_metadata(file).num_rows for stem in (TRAINING, ACTION_ONLY) for file in shards_in(folder, stem))


def _check_layout(file: Path, schema: Any) -> None:
    told = (schema.metadata or {}).get(_VERSION_KEY, b"none").decode()
    if told != str(VERSION):
        raise EviflowError(f"{file} holds rows of layout {told}, and EviFlow reads layout {VERSION}; {REMEDY}")
    if not schema.equals(SCHEMA):
        wrong = sorted(set(map(str, schema)) ^ set(map(str, SCHEMA))) or ["their order"]
        raise EviflowError(f"{file} has other columns than layout {VERSION} ({', '.join(wrong)}); {REMEDY}")


def _columns(record: RowRecord) -> dict[str, Any]:
    spans = [span._asdict() for span in record.spans]
    images = [picture._asdict() for picture in record.images]
    return vars(record) | {"spans": spans, "images": images}


def _record(columns: dict[str, Any]) -> RowRecord:
    spans = tuple(Span(**span | {"name": SpanName(span["name"])}) for span in columns["spans"])
    images = tuple(Picture(**picture | {"grid": tuple(picture["grid"])}) for picture in columns["images"])
    return RowRecord(**columns | {"spans": spans, "images": images})
