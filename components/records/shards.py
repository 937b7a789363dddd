"""Episodes in parquet: a few columns to filter on, and the whole record as JSON text.

Version 2 of the layout, told by the file's metadata `eviflow.episodes`, is a folder of shards in the order of ids,
`episodes-00000-of-0000N.parquet`, or one file; what version 1 lacks, every reader fills with what it stands for.
"""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.errors import EviflowError
from components.records.episode import Episode
from components.storage.atomic import write_bytes
from components.storage.parquet_shards import ParquetShards, shards_in

STEM, VERSION = "episodes", 2
SHARD_BYTES = 96 * 10**6
"""Of records as JSON; compressed they take a tenth or less."""
_GROUP_ROWS, _GROUP_BYTES = 64, 4 * 10**6
_VERSION_KEY = b"eviflow.episodes"

SCHEMA = pa.schema(
    [
        ("episode_id", pa.string()),
        ("case_id", pa.string()),
        ("policy", pa.string()),
        ("verdict", pa.string()),
        ("termination", pa.string()),
        ("actions", pa.int32()),
        ("episode", pa.string()),
    ],
    metadata={_VERSION_KEY: str(VERSION).encode()},
)


def write_episodes(path: Path, episodes: Iterable[Episode]) -> Path:
    """Write episodes as one file, sorted by id so that equal sets give equal bytes."""
    rows = [_row(episode) for episode in sorted(episodes, key=lambda episode: episode.episode_id)]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), buffer, compression="zstd")
    return write_bytes(path, buffer.getvalue())


def write_episode_shards(folder: Path, episodes: Iterable[Episode], limit: int = SHARD_BYTES) -> int:
    """Write any number of episodes into a staging folder, a group of rows at a time; returns how many.

    Args:
        folder: holds no shards yet.
        episodes: in the order of their ids.
        limit: bytes of a shard's records as JSON.

    """
    layout = {"limit": limit, "group_rows": _GROUP_ROWS, "group_bytes": _GROUP_BYTES}
    with ParquetShards(folder, STEM, SCHEMA, **layout, compression="zstd") as shards:
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
    for file in _files(path):
        with pq.ParquetFile(file) as parquet:
            told = (parquet.schema_arrow.metadata or {}).get(_VERSION_KEY, b"1").decode()
            if int(told) > VERSION:
                raise EviflowError(f"{file} holds episodes of layout {told}; update EviFlow, which knows {VERSION}")
            for batch in parquet.iter_batches(batch_size=_GROUP_ROWS, columns=["episode"]):
                yield from map(Episode.model_validate_json, batch.column(0).to_pylist())


def count_episodes(path: Path) -> int:
    """How many episodes a file, or a folder of shards, holds; reads no episode."""
    return sum(pq.read_metadata(file).num_rows for file in _files(path))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return shards_in(path, STEM) or [path / f"{STEM}.parquet"]


def _row(episode: Episode) -> dict[str, Any]:
    return {
        "episode_id": episode.episode_id,
        "case_id": episode.case.case_id,
        "policy": episode.policy,
        "verdict": episode.report.verdict.value if episode.report else None,
        "termination": episode.termination.value,
        "actions": episode.actions_used,
        "episode": episode.model_dump_json(),
    }
