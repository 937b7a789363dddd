"""Pictures in Parquet files by content hash, `assets/pictures-00000-of-0000N.parquet`: few files that move quickly.

Rows are in the order of their hashes and come in small groups, so that one picture is read without its file.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from components.errors import EviflowError
from components.storage.parquet_shards import shards_in

FOLDER, STEM = "assets", "pictures"


def damaged(path: Path, digest: str) -> EviflowError:
    """The error that a file does not hold a picture's own bytes any more."""
    return EviflowError(
        f"picture {digest} in {path} is damaged; delete that file and run `dvc checkout`, or build or import it again"
    )


class Packed(NamedTuple):
    """A picture as it was found."""

    path: Path
    """The file it is in."""
    data: bytes
    """Encoded; not yet compared with its hash."""


class _Opened(NamedTuple):
    """A file, and what keeps two threads from reading it at once."""

    path: Path
    file: Any
    lock: Lock


class _Index(NamedTuple):
    """Where each picture is. 64 bytes a picture."""

    digests: NDArray[np.bytes_]
    """Of every picture, sorted."""
    starts: NDArray[np.int64]
    """Position in `digests` at which each group of rows begins."""
    groups: Sequence[tuple[int, int]]
    """Shard, and number within it, of each group."""

    def find(self, digest: str) -> int | None:
        """Position of a picture, if it is there."""
        wanted = digest.encode()
        at = int(np.searchsorted(self.digests, np.bytes_(wanted)))
        return at if at < len(self.digests) and self.digests[at] == wanted else None


class ImageShards:
    """The pictures of one folder, read one at a time. Several threads may read.

    Args:
        folder: what `new_shards` has written to.

    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def __contains__(self, digest: str) -> bool:
        return self._index.find(digest) is not None

    def find(self, digest: str) -> Packed | None:
        """A picture, if it is there.

        Raises:
            EviflowError: a file is missing or damaged.

        """
        index = self._index
        at = index.find(digest)
        if at is None:
            return None
        group = int(np.searchsorted(index.starts, at, side="right")) - 1
        shard, number = index.groups[group]
        opened = self._files[shard]
        with _attributed(damaged(opened.path, digest)), opened.lock:
            column = opened.file.read_row_group(number, columns=["bytes"], use_threads=False).column(0)
            return Packed(opened.path, column[at - int(index.starts[group])].as_py())

    @cached_property
    def _paths(self) -> list[Path]:
        return shards_in(self._folder, STEM)

    @cached_property
    def _files(self) -> list[_Opened]:
        return [_open(path) for path in self._paths]

    @cached_property
    def _index(self) -> _Index:
        digests: list[str] = []
        starts: list[int] = []
        groups: list[tuple[int, int]] = []
        for shard, opened in enumerate(self._files):
            position = len(digests)
            digests += _digests(opened)
            for number in range(opened.file.metadata.num_row_groups):
                starts.append(position)
                groups.append((shard, number))
                position += opened.file.metadata.row_group(number).num_rows
        return _Index(np.array(digests, dtype="S64"), np.array(starts, dtype=np.int64), groups)


def _open(path: Path) -> _Opened:
    import pyarrow.parquet as pq

    with _attributed(_unreadable(path)):
        return _Opened(path, pq.ParquetFile(path, page_checksum_verification=True), Lock())


def _digests(opened: _Opened) -> list[str]:
    with _attributed(_unreadable(opened.path)), opened.lock:
        found: list[str] = opened.file.read(columns=["sha256"], use_threads=False).column(0).to_pylist()
        return found


def _unreadable(path: Path) -> EviflowError:
    return EviflowError(f"{path} is damaged; delete it and run `dvc checkout`, or build or import it again")


@contextmanager
def _attributed(error: EviflowError) -> Iterator[None]:
    """Raise `error` for whatever the Parquet reader says about damaged bytes; what the system says stays as it is."""
    import pyarrow as pa

    try:
        yield
    except (OSError, ValueError, LookupError, pa.ArrowException) as found:
        if isinstance(found, OSError) and found.errno is not None:
            raise
        raise error from found
