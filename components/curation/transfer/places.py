"""Where a table and its pictures are read from: a folder, or an archive (`archives.py`)."""

import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from components.curation.transfer.refusals import RefusalReason, RowRefused, shown
from components.curation.transfer.tables import SUFFIXES, Table, open_table
from components.errors import UsageError

MAX_PICTURE = 64 * 1024**2
"""Bytes of one picture's file."""


class Place(ABC):
    """Where an import reads from. Nothing outside it is read, and nothing in it is written."""

    @abstractmethod
    def table(self) -> AbstractContextManager[Table]:
        """The table, open; raises UsageError when there is none or it cannot be read."""

    @abstractmethod
    def picture(self, path: str) -> bytes:
        """The bytes of a picture's file; raises RowRefused when it is not inside, no regular file, or too large."""


def refused(reason: RefusalReason, detail: str) -> RowRefused:
    """A refusal of the row's picture."""
    return RowRefused(reason, detail, "image")


def safe_parts(path: str) -> tuple[str, ...]:
    """A relative path as names, whichever slash it is written with.

    Raises:
        RowRefused: it is absolute, climbs, or is an address.

    """
    plain = path.replace("\\", "/")
    parts = tuple(part for part in plain.split("/") if part not in ("", "."))
    if "://" in plain or plain.startswith("data:"):
        raise refused(RefusalReason.LEAVES_FOLDER, f"{shown(path)} is an address; download the picture first")
    if plain.startswith(("/", "~")) or re.match("[A-Za-z]:", plain) or ".." in parts:
        raise refused(RefusalReason.LEAVES_FOLDER, f"{shown(path)} leaves the folder")
    if not parts or "\0" in plain:
        raise refused(RefusalReason.PICTURE_MISSING, f"{shown(path)} names no file")
    return parts


def choose_table(names: Sequence[str], place: str) -> str:
    """The table among file names: `metadata.*`, or the only one.

    Raises:
        UsageError: there is none, or several.

    """
    tables = sorted(name for name in names if name.casefold().endswith(SUFFIXES))
    named = [name for name in tables if PurePosixPath(name).stem.casefold() == "metadata"] or tables
    if len(named) == 1:
        return named[0]
    found = f"several tables ({', '.join(named[:5])})" if named else f"no table ({', '.join(SUFFIXES)})"
    raise UsageError(f"{place} holds {found}; name the one to import with --table")


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading; raises OSError for a link, and for anything that is no regular file."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{path} is no regular file")
    return os.fdopen(handle, "rb")


class Folder(Place):
    """A folder of pictures and a table.

    Args:
        root: the folder that pictures' paths are relative to.
        table: the table, inside or outside of it; found when not given.

    """

    def __init__(self, root: Path, table: Path | None = None) -> None:
        self._root, self._table = root, table

    @contextmanager
    def table(self) -> Iterator[Table]:
        """The table, open."""
        path = self._table or self._root / choose_table([item.name for item in self._root.iterdir()], str(self._root))
        try:
            file = open_regular(path)
        except OSError as error:
            reason = error.strerror or "not a regular file"
            raise UsageError(f"{path} cannot be read ({reason}); name a table, not a link to one") from None
        with file:
            yield open_table(file, path.name, os.fstat(file.fileno()).st_size)

    def picture(self, path: str) -> bytes:
        """The bytes of a picture's file."""
        current = self._root
        try:
            for part in safe_parts(path):
                current = current / part
                if current.is_symlink():
                    raise refused(RefusalReason.SYMBOLIC_LINK, f"{shown(path)} is or follows a symbolic link")
            with open_regular(current) as file:
                size = os.fstat(file.fileno()).st_size
                if size > MAX_PICTURE:
                    raise too_large(path, size)
                return file.read(MAX_PICTURE)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or "not a regular file"
            raise refused(RefusalReason.PICTURE_MISSING, f"{shown(path)} cannot be read: {problem}") from None


def too_large(path: str, size: int) -> RowRefused:
    """The refusal of a file that is larger than any picture."""
    detail = f"{shown(path)} has {size} bytes, more than {MAX_PICTURE // 1024**2} MiB"
    return refused(RefusalReason.PICTURE_TOO_LARGE, detail)
