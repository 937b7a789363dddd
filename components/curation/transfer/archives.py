"""Importing straight from a ZIP archive. Members are read one at a time into memory; nothing is ever unpacked.

So no member can be written outside a folder, and a link in an archive leads nowhere. What is left to guard against is
size: members are bounded by number, by declared size and by how much they grow, and no member yields more than it
declares.
"""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from components.curation.transfer.places import MAX_PICTURE, Folder, Place, choose_table, refused, safe_parts, too_large
from components.curation.transfer.refusals import RefusalReason, shown
from components.curation.transfer.tables import Table, open_table
from components.errors import UsageError

MAX_MEMBERS = 500_000
MAX_TOTAL = 256 * 1024**3
"""Bytes of all members, unpacked."""
MAX_RATIO = 200
"""How often larger a member may be unpacked. Text shrinks to a twentieth, pictures hardly at all."""
SMALL = 1024**2
"""Bytes, unpacked, up to which the ratio does not matter."""
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)


class Archive(Place):
    """A ZIP archive with a table and pictures, at its top or in its one folder.

    Args:
        path: the archive.
        table: the member that is the table; found when not given.

    Raises:
        UsageError: it is no ZIP archive, or a bomb.

    """

    def __init__(self, path: Path, table: str | None = None) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            raise UsageError(f"{path} is no readable ZIP archive; copy or download it again") from error
        self._check()
        self._members = {info.filename: info for info in self._zip.infolist() if not info.is_dir()}
        self._table = table if table is not None else self._find_table()
        self._base = PurePosixPath(self._table).parent

    def _check(self) -> None:
        members = self._zip.infolist()
        total = sum(info.file_size for info in members)
        if len(members) > MAX_MEMBERS:
            raise UsageError(f"{self._path} has {len(members)} members, more than {MAX_MEMBERS}; unpack it yourself")
        if total > MAX_TOTAL:
            raise UsageError(f"{self._path} would grow to {total} bytes, as a zip bomb does; unpack it yourself")

    def _find_table(self) -> str:
        names = [PurePosixPath(name) for name in self._members if not name.startswith("__MACOSX/")]
        depth = min((len(name.parts) for name in names), default=1)
        tops = {name.parts[0] for name in names}
        at = depth if depth == 1 or len(tops) > 1 else 2
        return choose_table([str(name) for name in names if len(name.parts) == at], str(self._path))

    @contextmanager
    def table(self) -> Iterator[Table]:
        """The table, open; with it ends the archive."""
        info = self._members.get(self._table)
        if info is None:
            raise UsageError(f"{self._path} has no member {self._table}; name one with --table")
        if info.flag_bits & 1 or _grows(info):
            kind = "encrypted" if info.flag_bits & 1 else f"a zip bomb of {info.file_size} bytes"
            raise UsageError(f"{self._table} in {self._path} is {kind}; unpack it yourself")
        try:
            with self._zip, self._zip.open(info) as file:
                yield open_table(file, self._table, info.file_size)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise UsageError(f"{self._table} in {self._path} is damaged; copy or download it again") from error

    def picture(self, path: str) -> bytes:
        """The bytes of a picture's member."""
        info = self._members.get(str(self._base.joinpath(*safe_parts(path))))
        if info is None:
            raise refused(RefusalReason.PICTURE_MISSING, f"{shown(path)} is not in the archive")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise refused(RefusalReason.SYMBOLIC_LINK, f"{shown(path)} is a symbolic link")
        if _grows(info):
            detail = f"{shown(path)} would grow from {info.compress_size} to {info.file_size} bytes"
            raise refused(RefusalReason.ZIP_BOMB, detail)
        if info.file_size > MAX_PICTURE:
            raise too_large(path, info.file_size)
        try:
            with self._zip.open(info) as file:
                return file.read(MAX_PICTURE)
        except _BROKEN:
            raise refused(RefusalReason.PICTURE_UNREADABLE, f"{shown(path)} is damaged or encrypted") from None


def _grows(info: zipfile.ZipInfo) -> bool:
    return info.file_size > SMALL and info.file_size > MAX_RATIO * info.compress_size


def open_place(source: Path, table: str | None) -> Place:
    """The place that a user names: a folder, an archive, or a table whose pictures lie beside it.

    Args:
        source: what is imported.
        table: a file, or a name inside `source`; found when not given.

    Raises:
        UsageError: it is not there.

    """
    if source.is_file():
        if source.suffix.casefold() == ".zip":
            return Archive(source, table)
        return Folder(source.parent, source.resolve())
    if not source.is_dir():
        raise UsageError(f"{source} does not exist; name a folder, a table or a .zip")
    if table is None:
        return Folder(source)
    inside = source / table
    return Folder(source, (inside if inside.exists() else Path(table)).resolve())
