"""Every picture once, by the hash of its bytes."""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from components.errors import EviflowError
from components.storage.atomic import write_bytes


def sha256_hex(data: bytes) -> str:
    """Hexadecimal SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def asset_path(digest: str) -> str:
    """Where a picture lies inside a bank: `assets/sha256/<first two digits>/<digest>.png`."""
    return f"assets/sha256/{digest[:2]}/{digest}.png"


class ImageBank:
    """Pictures by content hash in one folder, with further folders to read from.

    Args:
        root: where new pictures are written.
        also: other banks' roots, searched after `root`.

    """

    def __init__(self, root: Path, also: Sequence[Path] = ()) -> None:
        self.root = root
        self._roots = (root, *also)

    def put(self, data: bytes) -> str:
        """Store an encoded picture and return its SHA-256; a picture already in any root is not written again."""
        digest = sha256_hex(data)
        if self._find(digest) is None:
            write_bytes(self.root / asset_path(digest), data)
        return digest

    def __contains__(self, digest: str) -> bool:
        return self._find(digest) is not None

    def read(self, digest: str) -> bytes:
        """The encoded bytes; raises EviflowError when no root has the picture."""
        path = self._find(digest)
        if path is None:
            raise EviflowError(f"picture {digest} is in none of {', '.join(map(str, self._roots))}; run `dvc checkout`")
        return path.read_bytes()

    def open(self, digest: str) -> Image.Image:
        """The decoded picture, RGB."""
        return Image.open(io.BytesIO(self.read(digest))).convert("RGB")

    def _find(self, digest: str) -> Path | None:
        return next((path for root in self._roots if (path := root / asset_path(digest)).exists()), None)
