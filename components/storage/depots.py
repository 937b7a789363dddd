"""Places that hold DVC's objects by digest, `files/md5/ab/cdef...`: the cache here, a remote folder, a remote in S3."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple, Protocol

from components.progress import track

LAYOUT = "files/md5"
LONG_BYTES = 2**30
"""Reading more than this takes long enough to show how far it is."""


class Found(NamedTuple):
    """What a place has under a digest."""

    size: int
    """Bytes."""
    md5: str | None
    """Of the content; None where the place does not tell, and only the size can be compared."""


class Depot(Protocol):
    """A place that holds objects."""

    @property
    def label(self) -> str:
        """How to speak of it: `here`, ``in remote `storage` ``."""
        ...

    def find(self, digests: Collection[str]) -> dict[str, Found]:
        """What it has of these objects, content looked at as far as the place allows."""
        ...

    def read(self, digest: str) -> bytes | None:
        """An object's bytes, unchecked; None where there is none."""
        ...

    def copy(self, digest: str, target: Path) -> None:
        """Write an object's bytes, unchecked, to a file."""
        ...


class FolderDepot:
    """Objects in a folder: DVC's cache, or a remote that is a folder."""

    def __init__(self, folder: Path, label: str) -> None:
        self.folder = folder
        self._label = label

    @property
    def label(self) -> str:
        """How to speak of it."""
        return self._label

    def find(self, digests: Collection[str]) -> dict[str, Found]:
        """Read and digest every one that is there."""
        paths = {digest: self.path(digest) for digest in digests if self.path(digest).is_file()}
        sizes = {digest: path.stat().st_size for digest, path in paths.items()}
        items: Iterable[tuple[str, Path]] = paths.items()
        if sum(sizes.values()) > LONG_BYTES:
            items = track(items, f"read {self.label}", len(paths), "objects")
        return {digest: Found(sizes[digest], digest_md5(path)) for digest, path in items}

    def read(self, digest: str) -> bytes | None:
        """An object's bytes, unchecked; None where there is none."""
        path = self.path(digest)
        return path.read_bytes() if path.is_file() else None

    def copy(self, digest: str, target: Path) -> None:
        """Write an object's bytes, unchecked, to a file."""
        shutil.copyfile(self.path(digest), target)

    def path(self, digest: str) -> Path:
        """Where an object lies, or would."""
        return self.folder / LAYOUT / digest[:2] / digest[2:]

    def take(self, digest: str, source: Depot) -> bool:
        """Bring an object from another place, whole or not at all; False when its bytes are not what they should be."""
        target = self.path(digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        os.close(handle)
        temporary = Path(name)
        try:
            source.copy(digest, temporary)
            if digest_md5(temporary) != stem(digest):
                return False
            temporary.chmod(0o444)  # as DVC leaves its objects
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        return True


def stem(digest: str) -> str:
    """The MD5 in a digest: a folder's has a suffix."""
    return digest.removesuffix(".dir")


def digest_md5(path: Path) -> str:
    """MD5 of a file's bytes, DVC's own digest; no protection against malice."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def bytes_md5(content: bytes) -> str:
    """MD5 of some bytes."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
