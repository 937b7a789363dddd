"""The layout of a Hugging Face dataset: Parquet shards that carry their features, and a card that names them."""

import json
from pathlib import Path
from typing import Any

import yaml

from components.curation.transfer.released import PRIVATE_FIELDS, ReleasedCase
from components.records.case import Verdict
from components.storage.parquet_shards import ParquetShards

SHARD_BYTES = 256_000_000
"""No shard is larger."""
_GROUP_ROWS, _GROUP_BYTES = 32, 2**24
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


class ShardWriter(ParquetShards):
    """Writes `SPLIT-00000-of-0000N.parquet` files, none larger than `limit`, a group of rows at a time.

    Args:
        folder: where to, made for the first row.
        split: what the files are named after.
        private: whether rows have private fields.
        limit: bytes.

    """

    def __init__(self, folder: Path, split: str, private: bool, limit: int = SHARD_BYTES) -> None:
        options = {"compression": "zstd", "use_dictionary": False}
        super().__init__(
            folder, split, _schema(private), limit=limit, group_rows=_GROUP_ROWS, group_bytes=_GROUP_BYTES, **options
        )

    def add(self, item: ReleasedCase) -> None:
        """Write one case."""
        size = len(item.picture) + sum(len(text.encode()) for text in item.private.values()) + _OVERHEAD
        self.append(_row(item), size)


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
