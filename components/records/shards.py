"""Episodes in parquet: a few columns to filter on, and the whole record as JSON text."""

import io
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from components.records.episode import Episode
from components.storage.atomic import write_bytes

SCHEMA = pa.schema(
    [
        ("episode_id", pa.string()),
        ("case_id", pa.string()),
        ("policy", pa.string()),
        ("verdict", pa.string()),
        ("termination", pa.string()),
        ("actions", pa.int32()),
        ("episode", pa.string()),
    ]
)


def write_episodes(path: Path, episodes: Iterable[Episode]) -> Path:
    """Write episodes, sorted by id so that equal sets give equal bytes."""
    rows = [
        {
            "episode_id": episode.episode_id,
            "case_id": episode.case.case_id,
            "policy": episode.policy,
            "verdict": episode.report.verdict.value if episode.report else None,
            "termination": episode.termination.value,
            "actions": episode.actions_used,
            "episode": episode.model_dump_json(),
        }
        for episode in sorted(episodes, key=lambda episode: episode.episode_id)
    ]
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), buffer, compression="zstd")
    return write_bytes(path, buffer.getvalue())


def read_episodes(path: Path) -> list[Episode]:
    """Read what `write_episodes` wrote."""
    column = pq.read_table(path, columns=["episode"]).column("episode")
    return [Episode.model_validate_json(text) for text in column.to_pylist()]
