"""Files that appear whole or not at all: written beside their place, synced, then renamed."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import BaseModel

T = TypeVar("T", bound=BaseModel)


def write_bytes(path: Path, data: bytes) -> Path:
    """Write `data` to `path` atomically and durably; makes parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def write_text(path: Path, text: str) -> Path:
    """Write UTF-8 text atomically."""
    return write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> Path:
    """Write a pydantic model or plain value as indented JSON with a final newline."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return write_text(path, json.dumps(plain, indent=2, ensure_ascii=False) + "\n")


def write_jsonl(path: Path, records: Iterable[BaseModel]) -> Path:
    """Write one record a line. Lines end in LF only, so a record may hold any other separator."""
    return write_text(path, "".join(record.model_dump_json() + "\n" for record in records))


def read_jsonl(path: Path, kind: type[T]) -> list[T]:
    """Read records written by `write_jsonl`, splitting on LF alone."""
    return list(iterate_jsonl(path, kind))


def iterate_jsonl(path: Path, kind: type[T]) -> Iterator[T]:
    """The same one after another, however large the file is."""
    with path.open("rb") as file:
        for line in file:
            if text := line.rstrip(b"\n"):
                yield kind.model_validate_json(text)


@contextmanager
def open_synced(path: Path) -> Iterator[IO[bytes]]:
    """A new file, for writing bytes, that is on disk when the block ends; for files of a staging folder."""
    with path.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replace_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder that takes `target`'s place when the block ends well, and vanishes when it does not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp"))
    staging.chmod(0o755)
    try:
        yield staging
        shutil.rmtree(target, ignore_errors=True)
        staging.replace(target)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def remove_leftovers(target: Path) -> None:
    """Remove what a killed `replace_folder` has left beside `target`; only for who knows that nobody is writing it."""
    for left in target.parent.glob(f".{target.name}.*.tmp"):
        shutil.rmtree(left, ignore_errors=True)
