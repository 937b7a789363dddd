"""Rows of a table as dictionaries, one at a time: JSON lines, CSV with any common delimiter, Parquet.

What is wrong with one row is said of that row; what makes the whole file unreadable is an error.
"""

import csv
import json
from collections import deque
from collections.abc import Iterator
from pathlib import PurePath
from typing import IO, Any, NamedTuple, Protocol

from components.curation.transfer.lines import MAX_LINE, LineReader
from components.curation.transfer.refusals import RefusalReason, RowRefused, shown
from components.errors import UsageError

SUFFIXES = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_DELIMITERS = ",;\t|"
_TOO_LONG = "\0 too long \0"
"""Stands in a CSV for a line that was passed over."""
_LONGEST_RECORD = 200
"""Lines of one CSV row. A quote that is never closed costs its own row, not the rest of the file."""
_BATCH, _BUFFER = 16, 1024**2
"""Rows and bytes that a Parquet file is read by."""
_MAX_ROW_GROUP = 2 * 1024**3
"""Bytes of a Parquet row group once decompressed; the reader holds a part of one in memory."""


class RawRow(NamedTuple):
    """One row as it stands in the table, or why it cannot be read."""

    line: int
    values: dict[str, Any] | RowRefused


class Table(Protocol):
    """A table being read."""

    total: int
    """How much there is to read, in `unit`."""
    unit: str

    @property
    def columns(self) -> tuple[str, ...] | None:
        """None where every row names its own."""

    @property
    def position(self) -> int:
        """How much was read, in `unit`."""

    def rows(self) -> Iterator[RawRow]:
        """Every row, in order."""


def open_table(file: IO[bytes], name: str, size: int) -> Table:
    """The table in `file`; its kind is told by the end of its name.

    Raises:
        UsageError: the file is empty, of an unknown kind, or has no readable header.

    """
    suffix = PurePath(name).suffix.casefold()
    if suffix not in SUFFIXES:
        raise UsageError(f"{name} is no table; name a file that ends in {', '.join(SUFFIXES)}")
    if size == 0:
        raise UsageError(f"{name} is empty; name a table with at least one row")
    if suffix == ".parquet":
        return ParquetTable(file, name)
    return JsonLines(file, size) if suffix in (".jsonl", ".ndjson") else CsvTable(file, name, size)


class _TextTable:
    """What tables of lines share: how far they are, in kB."""

    unit = "kB"

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._lines = LineReader(file)
        self.total = -(-size // 1000)

    @property
    def position(self) -> int:
        return -(-self._lines.position // 1000)


class JsonLines(_TextTable):
    """One JSON object a line."""

    columns = None

    def rows(self) -> Iterator[RawRow]:
        """Every row, in order."""
        for number, line in self._lines:
            if line is None or line.strip():
                yield RawRow(number, _parse(line))


def _parse(line: bytes | None) -> dict[str, Any] | RowRefused:
    if line is None:
        return _too_long()
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        return RowRefused(RefusalReason.NOT_UTF8, f"byte {error.start + 1} of the line is not UTF-8")
    except RecursionError:
        return RowRefused(RefusalReason.NOT_JSON, "the line is nested too deeply")
    except ValueError as error:
        return RowRefused(RefusalReason.NOT_JSON, f"the line is no JSON: {shown(str(error))}")
    if not isinstance(value, dict):
        return RowRefused(RefusalReason.NOT_JSON, f"the line holds a {type(value).__name__}, not an object")
    return value


def _too_long() -> RowRefused:
    return RowRefused(RefusalReason.LINE_TOO_LONG, f"the line is longer than {MAX_LINE // 1024**2} MiB")


class _Feed:
    """Lines for `csv.reader` that can be given back when a row turns out to have swallowed its successors.

    Bytes that are no UTF-8 become lone surrogates, so that they spoil their own cell only.
    """

    def __init__(self, lines: LineReader) -> None:
        self._lines = lines
        self._waiting: deque[tuple[int, str]] = deque()
        self._taken: list[tuple[int, str]] = []

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        if len(self._taken) >= _LONGEST_RECORD:
            raise csv.Error("a quote is not closed")
        self._taken.append(self._waiting.popleft() if self._waiting else self._next())
        return self._taken[-1][1]

    def _next(self) -> tuple[int, str]:
        number, line = next(self._lines)
        return number, _TOO_LONG if line is None else line.decode("utf-8", "surrogateescape")

    def start(self) -> None:
        """A new row begins."""
        self._taken.clear()

    @property
    def line(self) -> int:
        """Where the row begins."""
        return self._taken[0][0]

    def give_back(self) -> None:
        """Read every line of the row but its first once more."""
        self._waiting.extendleft(reversed(self._taken[1:]))


class CsvTable(_TextTable):
    """A CSV with a header; the delimiter is the one that the header has most of: comma, semicolon, tab or bar."""

    def __init__(self, file: IO[bytes], name: str, size: int) -> None:
        super().__init__(file, size)
        self.delimiter, self.columns = _header(self._lines, name)

    columns: tuple[str, ...]

    def rows(self) -> Iterator[RawRow]:
        """Every row, in order."""
        feed = _Feed(self._lines)
        reader = csv.reader(feed, delimiter=self.delimiter, strict=True)
        while True:
            feed.start()
            try:
                cells = next(reader, None)
            except csv.Error as error:
                line = feed.line
                feed.give_back()
                yield RawRow(line, RowRefused(RefusalReason.BROKEN_CSV, f"the row is no CSV: {error}"))
                continue
            if cells is None:
                return
            if cells:
                yield RawRow(feed.line, self._named(cells))

    def _named(self, cells: list[str]) -> dict[str, Any] | RowRefused:
        if any(_TOO_LONG in cell for cell in cells):
            return _too_long()
        if len(cells) != len(self.columns):
            detail = f"the row has {len(cells)} cells, the header {len(self.columns)}"
            return RowRefused(RefusalReason.WRONG_COLUMNS, detail)
        return dict(zip(self.columns, cells, strict=True))


def _header(lines: LineReader, name: str) -> tuple[str, tuple[str, ...]]:
    line = next((line for _, line in lines if line is None or line.strip()), None)
    if line is None:
        raise UsageError(f"{name} has no header; name the columns in its first line")
    try:
        found = {mark: _cells(line.decode(), mark) for mark in _DELIMITERS}
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text; save it as UTF-8") from None
    delimiter = max(found, key=lambda mark: len(found[mark]))
    columns = tuple(cell.strip() for cell in found[delimiter])
    if not columns:
        raise UsageError(f"{name} has no readable header; close the quotes in its first line")
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise UsageError(f"{name} has two columns named {shown(twice)}; rename one of them")
    return delimiter, columns


def _cells(line: str, delimiter: str) -> list[str]:
    """The cells of a line, none where it cannot be read with this delimiter."""
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        return []


class ParquetTable:
    """A Parquet file, read a few rows at a time."""

    unit = "rows"

    def __init__(self, file: IO[bytes], name: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            self._file = pq.ParquetFile(file, buffer_size=_BUFFER)
        except (pa.ArrowException, OSError) as error:
            raise UsageError(f"{name} is no readable Parquet file: {shown(str(error))}") from error
        metadata = self._file.metadata
        largest = max((metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups)), default=0)
        if largest > _MAX_ROW_GROUP:
            raise UsageError(f"{name} has a row group of {largest} bytes; write it with smaller row groups")
        self.columns: tuple[str, ...] = tuple(self._file.schema_arrow.names)
        self.total: int = metadata.num_rows
        self._name, self.position = name, 0

    def rows(self) -> Iterator[RawRow]:
        """Every row, in order; raises UsageError where the file is damaged."""
        import pyarrow as pa

        try:
            for batch in self._file.iter_batches(batch_size=_BATCH, use_threads=False):
                for index in range(batch.num_rows):
                    self.position += 1
                    yield RawRow(self.position, _values(batch, index))
        except (pa.ArrowException, OSError) as error:
            raise UsageError(f"{self._name} is damaged behind row {self.position}: {shown(str(error))}") from error


def _values(batch: Any, index: int) -> dict[str, Any]:
    """The row's values. One that cannot be read is its own refusal, which counts where the field is wanted."""
    values: dict[str, Any] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            values[name] = column[index].as_py()
        except UnicodeDecodeError:
            values[name] = RowRefused(RefusalReason.NOT_UTF8, "the value is not UTF-8")
        except (ValueError, OverflowError) as error:
            values[name] = RowRefused(RefusalReason.UNREADABLE_VALUE, f"the value cannot be read: {shown(str(error))}")
    return values
