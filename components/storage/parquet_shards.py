"""Rows in Parquet files of bounded size, written a group of rows at a time."""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from components.errors import EviflowError
from components.storage.atomic import open_synced


def shards_in(folder: Path, stem: str) -> list[Path]:
    """The files that `ParquetShards` has written into a folder, in order; none where it has written none.

    Raises:
        EviflowError: one is missing.

    """
    shards = sorted(folder.glob(f"{stem}-*-of-*.parquet"))
    if shards and len(shards) != int(shards[-1].stem.rpartition("-")[2]):
        raise EviflowError(
            f"{folder} has {len(shards)} files, and {shards[-1].name} is not the last of so many; "
            "run `dvc checkout`, or build or import it again"
        )
    return shards


class ParquetShards:
    """Writes `STEM-00000-of-0000N.parquet`, none larger than `limit` unless a single row is.

    Memory holds one group of rows. Use it as a context; the files get their names when the block ends well.

    Args:
        folder: where to, made for the first row.
        stem: what the files are named after.
        schema: a pyarrow schema.
        limit: bytes of a file.
        group_rows: rows of a group at most.
        group_bytes: bytes from which on a group is full.
        options: of `pyarrow.parquet.ParquetWriter`.

    """

    def __init__(
        self, folder: Path, stem: str, schema: Any, *, limit: int, group_rows: int, group_bytes: int, **options: Any
    ) -> None:
        self._folder, self._stem, self._schema, self._options = folder, stem, schema, options
        self._limit, self._group_rows, self._group_bytes = limit, group_rows, group_bytes
        self._open = ExitStack()
        self._writer: Any = None
        self._shards: list[Path] = []
        self._group: list[dict[str, Any]] = []
        self._bytes = self._pending = 0
        self.rows = 0
        """Rows so far."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._open.close()
            return
        self._close()
        for at, path in enumerate(self._shards):
            path.rename(self._folder / f"{self._stem}-{at:05d}-of-{len(self._shards):05d}.parquet")

    def append(self, row: dict[str, Any], size: int) -> None:
        """Write one row, which takes `size` bytes of a file at most, its share of the footer included."""
        if self._writer is None or (self._bytes and self._bytes + size > self._limit):
            self._next()
        self._bytes += size
        self._pending += size
        self._group.append(row)
        self.rows += 1
        if len(self._group) == self._group_rows or self._pending >= self._group_bytes:
            self._flush()

    def _next(self) -> None:
        import pyarrow.parquet as pq

        self._close()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._shards.append(self._folder / f".{self._stem}-{len(self._shards)}.parquet")
        file = self._open.enter_context(open_synced(self._shards[-1]))
        self._writer = self._open.enter_context(pq.ParquetWriter(file, self._schema, **self._options))
        self._bytes = 0

    def _flush(self) -> None:
        import pyarrow as pa

        if self._group:
            self._writer.write_table(pa.Table.from_pylist(self._group, schema=self._schema))
            self._group, self._pending = [], 0

    def _close(self) -> None:
        self._flush()
        self._open.close()
        self._writer = None
