"""Episodes in Parquet: a few columns to filter on, what was sampled, and the rest of the record as JSON text.

Version 3 of the layout, told by the file's metadata `eviflow.episodes`, is a folder of shards in the order of ids,
`episodes-00000-of-0000N.parquet`, or one file, with the columns of `SCHEMA`. In version 2 what was sampled stood in the
text as well; version 1 was always one file. All are read, and `eviflow data migrate` brings them up to date.
"""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.errors import EviflowError
from components.records import sampled
from components.records.episode import Episode
from components.storage.atomic import write_bytes
from components.storage.parquet_shards import ParquetShards, shards_in

STEM, VERSION = "episodes", 3
SHARD_BYTES = 96 * 10**6
"""Of records as JSON; compressed they take a tenth or less."""
_GROUP_ROWS, _GROUP_BYTES = 64, 4 * 10**6
_VERSION_KEY = b"eviflow.episodes"
_COMPRESSION: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 9,
    # Few numbers come twice; what is alike in them are their first bytes.
    "use_dictionary": False,
    "use_byte_stream_split": sampled.NUMBERS,
}

SCHEMA = pa.schema(
    [
        ("episode_id", pa.string()),
        ("case_id", pa.string()),
        ("policy", pa.string()),
        ("verdict", pa.string()),
        ("termination", pa.string()),
        ("actions", pa.int32()),
        (sampled.COLUMN, sampled.TYPE),
        ("episode", pa.string()),
    ],
    metadata={_VERSION_KEY: str(VERSION).encode()},
)


def write_episodes(path: Path, episodes: Iterable[Episode]) -> Path:
    """Write episodes as one file, sorted by id so that equal sets give equal bytes."""
    rows = [_row(episode) for episode in sorted(episodes, key=lambda episode: episode.episode_id)]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), buffer, **_COMPRESSION)
    return write_bytes(path, buffer.getvalue())


def write_episode_shards(folder: Path, episodes: Iterable[Episode], limit: int = SHARD_BYTES) -> int:
    """Write any number of episodes into a staging folder, a group of rows at a time; returns how many.

    Args:
        folder: holds no shards yet.
        episodes: in the order of their ids.
        limit: bytes of a shard's records as JSON.

    """
    layout = {"limit": limit, "group_rows": _GROUP_ROWS, "group_bytes": _GROUP_BYTES}
    with ParquetShards(folder, STEM, SCHEMA, **layout, **_COMPRESSION) as shards:
        for episode in episodes:
            row = _row(episode)
            shards.append(row, len(row["episode"].encode()))
        return shards.rows


def read_episodes(path: Path) -> list[Episode]:
    """Read a file, or a folder of shards; see `iterate_episodes`."""
    return list(iterate_episodes(path))


def iterate_episodes(path: Path) -> Iterator[Episode]:
    """The episodes of a file or of a folder's shards, in order, without holding more than a group of rows.

    Raises:
        EviflowError: a shard is missing, or was written by a newer version.
        FileNotFoundError: there is nothing.

    """
    for file in episode_files(path):
        with pq.ParquetFile(file) as parquet:
            if (told := _layout(parquet)) > VERSION:
                raise EviflowError(f"{file} holds episodes of layout {told}; update EviFlow, which knows {VERSION}")
            columns = [name for name in ("episode", sampled.COLUMN) if name in parquet.schema_arrow.names]
            for batch in parquet.iter_batches(batch_size=_GROUP_ROWS, columns=columns):
                yield from map(_episode, batch.to_pylist())


def layout_of(file: Path) -> int:
    """The version that a file was written in."""
    with pq.ParquetFile(file) as parquet:
        return _layout(parquet)


def episode_files(path: Path) -> list[Path]:
    """The file itself, or a folder's shards in order.

    Raises:
        EviflowError: a shard is missing.

    """
    if not path.is_dir():
        return [path]
    return shards_in(path, STEM) or [path / f"{STEM}.parquet"]


def count_episodes(path: Path) -> int:
    """How many episodes a file, or a folder of shards, holds; reads no episode."""
    return sum(pq.read_metadata(file).num_rows for file in episode_files(path))


def _layout(parquet: Any) -> int:
    return int((parquet.schema_arrow.metadata or {}).get(_VERSION_KEY, b"1"))


def _row(episode: Episode) -> dict[str, Any]:
    text, entries = episode.model_dump_json(), []
    if any(step.turn.token_ids is not None or step.turn.logprobs is not None for step in episode.steps):
        record = json.loads(text)
        entries = sampled.take_out(record["steps"])
        text = json.dumps(record, ensure_ascii=False)
    return {
        "episode_id": episode.episode_id,
        "case_id": episode.case.case_id,
        "policy": episode.policy,
        "verdict": episode.report.verdict.value if episode.report else None,
        "termination": episode.termination.value,
        "actions": episode.actions_used,
        sampled.COLUMN: entries,
        "episode": text,
    }


def _episode(row: dict[str, Any]) -> Episode:
    entries = row.get(sampled.COLUMN)
    if not entries:
        return Episode.model_validate_json(row["episode"])
    record = json.loads(row["episode"])
    sampled.put_back(record["steps"], entries)
    return Episode.model_validate(record)
