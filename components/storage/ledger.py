"""An append-only list of records on disk that survives a kill at any byte."""

import itertools
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from components.errors import EviflowError

Line = Mapping[str, Any] | BaseModel


class Span(NamedTuple):
    """Where a record lies in its file, bytes, its line break included."""

    start: int
    length: int

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.start + self.length


class Ledger:
    """JSON lines split on LF only, each synced to disk before `append` returns, unless it is said that none need be.

    A kill can tear the last line; a torn line never counted as written, so it is dropped, and the next `append`
    cuts it off. One process writes; its threads may share one ledger.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._guard = threading.Lock()

    def append(self, record: Line, *, durable: bool = True) -> None:
        """Write one record; one that is not durable survives a kill of this process, but perhaps not a power cut."""
        self.extend([record], durable=durable)

    def extend(self, records: Sequence[Line], *, durable: bool = True) -> list[Span]:
        """Write records in one go, which costs hardly more than writing one; says where each is."""
        lines = [_line(record) for record in records]
        with self._guard:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                start = _cut_torn_line(handle)
                _write_all(handle, b"".join(lines))
                if durable:
                    os.fsync(handle)
            finally:
                os.close(handle)
        ends = list(itertools.accumulate(map(len, lines), initial=start))
        return [Span(at, len(line)) for at, line in zip(ends, lines, strict=False)]

    def read(self) -> list[dict[str, Any]]:
        """Every record that was written whole, oldest first; no file means none.

        Raises:
            EviflowError: a line other than a torn last one is no JSON object.

        """
        if not self.path.exists():
            return []
        whole = self.path.read_bytes().split(b"\n")[:-1]
        return [self._parse(f"line {number}", line) for number, line in enumerate(whole, 1)]

    def read_from(self, start: int) -> Iterator[tuple[Span, dict[str, Any]]]:
        """The records that begin at `start` or behind it, one after another, and where each is.

        Raises:
            EviflowError: a line is no JSON object, or the file ends before `start`.

        """
        if not self.path.exists():
            if start:
                raise self._too_short()
            return
        with self.path.open("rb") as file:
            if file.seek(0, os.SEEK_END) < start:
                raise self._too_short()
            file.seek(start)
            for line in file:
                if line.endswith(b"\n"):
                    yield Span(start, len(line)), self._parse(f"the line at byte {start}", line)
                start += len(line)

    def at(self, span: Span) -> dict[str, Any]:
        """The record that lies there; raises EviflowError when none does."""
        with self.path.open("rb") as file:
            file.seek(span.start)
            return self._parse(f"the line at byte {span.start}", file.read(span.length))

    def _too_short(self) -> EviflowError:
        return EviflowError(f"{self.path} is shorter than it was; delete {self.path.parent} to begin anew")

    def _parse(self, place: str, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise EviflowError(f"{self.path}, {place}, is no JSON object; delete that line to go on without it")
        return record


def _line(record: Line) -> bytes:
    if isinstance(record, BaseModel):
        return record.model_dump_json().encode() + b"\n"
    return json.dumps(dict(record), ensure_ascii=False).encode() + b"\n"


def _cut_torn_line(handle: int) -> int:
    """Leave the file's end just behind its last LF, and the write position there; returns it."""
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
    return position


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
