"""The layout of a Hugging Face dataset: Parquet shards that carry their features, and a card that names them."""

import json
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from components.curation.transfer.released import PRIVATE_FIELDS, ReleasedCase
from components.records.case import Verdict

SHARD_BYTES = 256_000_000
"""No shard is larger."""
_GROUP_ROWS = 32
_OVERHEAD = 4_000
"""Bytes that a row takes at most besides its picture and its texts; and a shard's footer, per row."""
_LABELS = [verdict.value for verdict in Verdict]


def features(private: bool) -> dict[str, dict[str, Any]]:
    """The columns as `datasets` describes them."""
    text: dict[str, Any] = {"dtype": "string", "_type": "Value"}
    public: dict[str, dict[str, Any]] = {"case_id": text, "image": {"_type": "Image"}}
    labels = {"names": _LABELS, "_type": "ClassLabel"}
    return public | ({name: labels if name == "label" else text for name in PRIVATE_FIELDS} if private else {})


def dataset_card(counts: dict[str, int], private: bool) -> str:
    """`README.md`: a YAML header by which `datasets` and the Hub know splits and columns, and a few words.

    Args:
        counts: cases of each split.
        private: whether labels and claims are in it.

    """
    text: dict[str, Any] = {"dtype": "string"}
    label = {"dtype": {"class_label": {"names": {str(at): name for at, name in enumerate(_LABELS)}}}}
    columns = {"case_id": text, "image": {"dtype": "image"}}
    columns |= {name: label if name == "label" else text for name in PRIVATE_FIELDS} if private else {}
    header = {
        "task_categories": ["image-classification"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": split, "path": f"data/{split}-*.parquet"} for split in counts],
            }
        ],
        "dataset_info": {"features": [{"name": name, **kind} for name, kind in columns.items()]},
    }
    listed = "\n".join(f"- `{split}`: {count} cases" for split, count in counts.items())
    holds = "labels, claims and sources" if private else "public fields only: no labels, claims or sources"
    front = yaml.safe_dump(header, sort_keys=False, allow_unicode=True)
    return f"---\n{front}---\n\n# Pictures to be supported or refuted\n\nExported by EviFlow; {holds}.\n\n{listed}\n"


class ShardWriter:
    """Writes `SPLIT-00000-of-0000N.parquet` files, none larger than `limit`, a group of rows at a time.

    Args:
        folder: where to, made when missing.
        split: what the files are named after.
        private: whether rows have private fields.
        limit: bytes.

    """

    def __init__(self, folder: Path, split: str, private: bool, limit: int = SHARD_BYTES) -> None:
        self._folder, self._split, self._private, self._limit = folder, split, private, limit
        self._schema = _schema(private)
        self._writer: Any = None
        self._shards: list[Path] = []
        self._group: list[dict[str, Any]] = []
        self._bytes = 0
        self.rows = 0
        """Rows so far."""

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._close()
            for at, path in enumerate(self._shards):
                path.rename(self._folder / f"{self._split}-{at:05d}-of-{len(self._shards):05d}.parquet")
        elif self._writer is not None:
            self._writer.close()

    def add(self, item: ReleasedCase) -> None:
        """Write one case."""
        size = len(item.picture) + sum(len(text.encode()) for text in item.private.values()) + _OVERHEAD
        if self._writer is None or (self._bytes and self._bytes + size > self._limit):
            self._next()
        self._bytes += size
        self._group.append(_row(item))
        self.rows += 1
        if len(self._group) == _GROUP_ROWS:
            self._flush()

    def _next(self) -> None:
        import pyarrow.parquet as pq

        self._close()
        self._shards.append(self._folder / f".{self._split}-{len(self._shards)}.parquet")
        self._writer = pq.ParquetWriter(self._shards[-1], self._schema, compression="zstd", use_dictionary=False)
        self._bytes = 0

    def _flush(self) -> None:
        import pyarrow as pa

        if self._group:
            self._writer.write_table(pa.Table.from_pylist(self._group, schema=self._schema))
            self._group = []

    def _close(self) -> None:
        if self._writer is not None:
            self._flush()
            self._writer.close()
            self._writer = None


def _schema(private: bool) -> Any:
    import pyarrow as pa

    kinds = {"image": pa.struct([("bytes", pa.binary()), ("path", pa.string())]), "label": pa.int64()}
    columns = features(private)
    described = json.dumps({"info": {"features": columns}})
    return pa.schema([(name, kinds.get(name, pa.string())) for name in columns], metadata={"huggingface": described})


def _row(item: ReleasedCase) -> dict[str, Any]:
    name = item.case.case_id
    row: dict[str, Any] = {"case_id": name, "image": {"bytes": item.picture, "path": f"{name}.png"}, **item.private}
    return row | ({"label": _LABELS.index(row["label"])} if item.private else {})
