"""Writing pictures into Parquet shards: equal sets of pictures give equal bytes, whatever order they came in.

Until all are there they wait in a database on disk, so memory stays the same however many there are.
"""

import io
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from components.errors import EviflowError
from components.records.image_bank import sha256_hex
from components.records.image_shards import FOLDER, STEM
from components.storage.parquet_shards import ParquetShards

SHARD_BYTES = 96_000_000
"""No shard is larger. From 100 MiB on DVC uploads to S3 in parts, and what came in parts has no MD5 there that
`eviflow data verify` could compare."""
GROUP_ROWS, GROUP_BYTES = 4, 2**18
"""To read one picture, the group that it is in is read."""
_OVERHEAD = 1_000
"""Bytes that a row takes at most besides its picture, its share of the footer included."""
_COLUMNS = ("sha256", "bytes", "format", "width", "height")
_TABLES = """
PRAGMA page_size = 32768;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE pictures (sha256 TEXT PRIMARY KEY, bytes BLOB, format TEXT, width INTEGER, height INTEGER);
"""


class ImageWriter:
    """Takes pictures for a folder. Use `new_shards`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._db.executescript(_TABLES)

    def put(self, data: bytes) -> str:
        """Take an encoded picture and return its SHA-256; one that is there already is not stored again.

        Raises:
            EviflowError: it is no picture.

        """
        digest = sha256_hex(data)
        try:
            with Image.open(io.BytesIO(data)) as image:
                row = (digest, data, str(image.format).lower(), image.width, image.height)
        except UnidentifiedImageError as error:
            raise EviflowError(f"{len(data)} bytes with SHA-256 {digest} are no picture; store PNG or JPEG") from error
        self._db.execute("INSERT OR IGNORE INTO pictures VALUES (?, ?, ?, ?, ?)", row)
        return digest

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every picture once, sorted by hash, with what it is encoded as and its size in pixels."""
        for row in self._db.execute(f"SELECT {', '.join(_COLUMNS)} FROM pictures ORDER BY sha256"):
            yield dict(zip(_COLUMNS, row, strict=True))


@contextmanager
def new_shards(folder: Path, limit: int = SHARD_BYTES) -> Iterator[ImageWriter]:
    """Take pictures, and write them into `folder` when the block ends well: a staging folder, or one without pictures.

    Args:
        folder: `ImageBank(folder)` finds the pictures afterwards.
        limit: bytes of a shard; only a single picture that is larger makes a larger one.

    """
    waiting = folder / f".{STEM}.sqlite"
    connection = sqlite3.connect(waiting, isolation_level=None)
    try:
        writer = ImageWriter(connection)
        yield writer
        with _shards(folder, limit) as shards:
            for row in writer.rows():
                shards.append(row, len(row["bytes"]) + _OVERHEAD)
    finally:
        connection.close()
        waiting.unlink(missing_ok=True)


def _shards(folder: Path, limit: int) -> ParquetShards:
    import pyarrow as pa

    kinds = (pa.string(), pa.binary(), pa.string(), pa.int32(), pa.int32())
    fields = [pa.field(name, kind, nullable=False) for name, kind in zip(_COLUMNS, kinds, strict=True)]
    return ParquetShards(
        folder / FOLDER,
        STEM,
        pa.schema(fields),
        limit=limit,
        group_rows=GROUP_ROWS,
        group_bytes=GROUP_BYTES,
        compression="none",  # pictures are compressed already
        use_dictionary=False,
        write_statistics=["sha256"],
        write_page_checksum=True,
    )
