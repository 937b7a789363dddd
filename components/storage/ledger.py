"""An append-only list of records on disk that survives a kill at any byte."""

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from components.errors import EviflowError


class Ledger:
    """JSON lines split on LF only, each synced to disk before `append` returns, unless it is said that none need be.

    A kill can tear the last line; a torn line never counted as written, so it is dropped, and the next `append`
    cuts it off. One process writes; its threads may share one ledger.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.Lock()

    def append(self, record: Mapping[str, Any] | BaseModel, *, durable: bool = True) -> None:
        """Write one record; one that is not durable survives a kill of this process, but perhaps not a power cut."""
        plain = record.model_dump(mode="json") if isinstance(record, BaseModel) else dict(record)
        line = json.dumps(plain, ensure_ascii=False).encode() + b"\n"
        with self._guard:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                _cut_torn_line(handle)
                _write_all(handle, line)
                if durable:
                    os.fsync(handle)
            finally:
                os.close(handle)

    def read(self) -> list[dict[str, Any]]:
        """Every record that was written whole, oldest first; no file means none.

        Raises:
            EviflowError: a line other than a torn last one is no JSON object.

        """
        if not self.path.exists():
            return []
        whole = self.path.read_bytes().split(b"\n")[:-1]
        return [self._parse(number, line) for number, line in enumerate(whole, 1)]

    def _parse(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise EviflowError(f"{self.path}, line {number}, is no JSON object; delete that line to go on without it")
        return record


def _cut_torn_line(handle: int) -> None:
    """Leave the file's end just behind its last LF, and the write position there."""
    end = os.lseek(handle, 0, os.SEEK_END)
    position = end
    while position:
        start = max(0, position - 4096)
        found = os.pread(handle, position - start, start).rfind(b"\n")
        if found >= 0:
            position = start + found + 1
            break
        position = start
    if position != end:
        os.ftruncate(handle, position)
    os.lseek(handle, position, os.SEEK_SET)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
