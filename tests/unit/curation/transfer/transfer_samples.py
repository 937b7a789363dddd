"""Small tables and pictures of users, and looking at what became of them."""

import io
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from components.config.paths import Paths
from components.curation.transfer.importing import ImportRequest, ImportSummary, import_cases
from components.curation.transfer.mapping import FieldMap
from components.curation.transfer.refusals import Refusal
from components.records.case import Case, Gold, Split
from components.storage.atomic import read_jsonl


def picture(seed: int, kind: str = "PNG", size: tuple[int, int] = (24, 20), **options: Any) -> bytes:
    """A picture of noise; each seed gives another one."""
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format=kind, **options)
    return buffer.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb_picture() -> bytes:
    """A PNG of a few bytes that declares 10 gigapixels."""
    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(100)))


def user_folder(root: Path, rows: list[dict[str, Any]], pictures: dict[str, bytes]) -> Path:
    """A folder with `metadata.jsonl` and files."""
    lines = [json.dumps(row).encode() for row in rows]
    return raw_folder(root, "metadata.jsonl", b"\n".join(lines) + b"\n", pictures)


def raw_folder(root: Path, table: str, content: bytes, pictures: dict[str, bytes]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    (root / table).write_bytes(content)
    for name, data in pictures.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def take_in(
    root: Path, source: Path, name: str = "mine", split: Split = Split.TEST, fields: FieldMap | None = None,
    table: str | None = None,
) -> ImportSummary:  # fmt: skip
    """Import into the checkout `root`."""
    return import_cases(ImportRequest(source, name, split, table, fields or FieldMap()), Paths(root))


def cases(root: Path, name: str = "mine", split: str = "test") -> list[Case]:
    return read_jsonl(Paths(root).imports / name / f"{split}.jsonl", Case)


def golds(root: Path, name: str = "mine", split: str = "test") -> list[Gold]:
    return read_jsonl(Paths(root).imports_gold / name / f"{split}.jsonl", Gold)


def refusals(root: Path, name: str = "mine", split: str = "test") -> list[Refusal]:
    return read_jsonl(Paths(root).imports_gold / name / f"{split}.refused.jsonl", Refusal)


def refused_lines(root: Path) -> dict[int, str]:
    return {refusal.line: refusal.reason.value for refusal in refusals(root)}


def tree(folder: Path) -> dict[str, bytes]:
    """Every file under a folder, by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def flip(path: Path, at: int) -> None:
    """Turn one byte of a file over."""
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)
