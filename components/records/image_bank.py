"""Every picture once, by the hash of its bytes.

Finished data keep their pictures in Parquet shards (`image_writer.py` makes them); work in progress and caches, where
pictures come one at a time and must outlast a kill, keep them as files. A bank reads both.
"""

import hashlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from PIL import Image

from components.errors import EviflowError
from components.records.image_shards import ImageShards, Packed, damaged
from components.storage.atomic import write_bytes


def sha256_hex(data: bytes) -> str:
    """Hexadecimal SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def asset_path(digest: str) -> str:
    """What a case calls its picture, `assets/sha256/<first two digits>/<digest>.png`; a file's place inside a bank."""
    return f"assets/sha256/{digest[:2]}/{digest}.png"


class ImageBank:
    """Pictures by content hash in one folder, with further folders to read from. Several threads may read.

    Args:
        root: where new pictures are written, as files.
        also: other banks' roots, searched after `root`.

    """

    def __init__(self, root: Path, also: Sequence[Path] = ()) -> None:
        self.root = root
        self._roots = {folder: ImageShards(folder) for folder in (root, *also)}

    def put(self, data: bytes) -> str:
        """Store an encoded picture and return its SHA-256; a picture already in any root is not written again."""
        digest = sha256_hex(data)
        if digest not in self:
            write_bytes(self.root / asset_path(digest), data)
        return digest

    def __contains__(self, digest: str) -> bool:
        return any((folder / asset_path(digest)).exists() or digest in shards for folder, shards in self._roots.items())

    def read(self, digest: str) -> bytes:
        """The encoded bytes.

        Raises:
            EviflowError: no root has the picture, or the first that has it has other bytes under its hash.

        """
        found = next(self._found(digest), None)
        if found is None:
            raise EviflowError(f"picture {digest} is in none of {', '.join(map(str, self._roots))}; run `dvc checkout`")
        if sha256_hex(found.data) != digest:
            raise damaged(found.path, digest)
        return found.data

    def open(self, digest: str) -> Image.Image:
        """The decoded picture, RGB."""
        return Image.open(io.BytesIO(self.read(digest))).convert("RGB")

    def _found(self, digest: str) -> Iterator[Packed]:
        for folder, shards in self._roots.items():
            path = folder / asset_path(digest)
            if path.exists():
                yield Packed(path, path.read_bytes())
            elif (packed := shards.find(digest)) is not None:
                yield packed
