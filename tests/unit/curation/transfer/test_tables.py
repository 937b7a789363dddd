import csv
import io
import json
import tracemalloc
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.curation.transfer.lines import MAX_LINE, LineReader
from components.curation.transfer.refusals import RefusalReason, RowRefused
from components.curation.transfer.tables import CsvTable, JsonLines, ParquetTable, RawRow, open_table
from components.errors import UsageError

words = st.text(st.characters(codec="utf-8"), max_size=20)


def read(data: bytes, name: str) -> list[RawRow]:
    return list(open_table(io.BytesIO(data), name, len(data)).rows())


def reasons(rows: list[RawRow]) -> dict[int, RefusalReason]:
    return {row.line: row.values.reason for row in rows if isinstance(row.values, RowRefused)}


@given(st.binary(max_size=400), st.integers(1, 50))
def test_lines_are_split_on_lf_only_and_none_is_longer_than_allowed(data: bytes, longest: int) -> None:
    found = list(LineReader(io.BytesIO(data), longest))
    whole = data.split(b"\n")
    if whole[-1] == b"":
        whole.pop()
    assert [number for number, _ in found] == list(range(1, len(whole) + 1))
    for (_, line), expected in zip(found, whole, strict=True):
        if len(expected) > longest:
            assert line is None
        else:
            assert line is not None
            assert line.rstrip(b"\n") in (expected, expected.removeprefix(b"\xef\xbb\xbf"))


@given(st.binary(max_size=300))
def test_any_bytes_are_rows_or_refusals(data: bytes) -> None:
    for row in JsonLines(io.BytesIO(data), len(data)).rows():
        assert isinstance(row.values, dict | RowRefused)


@given(st.binary(max_size=300))
def test_any_bytes_behind_a_header_are_rows_or_refusals(data: bytes) -> None:
    lines = data.count(b"\n") + 1
    for row in CsvTable(io.BytesIO(b"image,label\n" + data), "t.csv", 1).rows():
        assert 2 <= row.line <= lines + 1
        assert isinstance(row.values, RowRefused) or set(row.values) == {"image", "label"}


@given(st.lists(st.dictionaries(words, st.one_of(words, st.integers(), st.none(), st.booleans())), min_size=1))
def test_json_lines_come_back(rows: list[dict[str, Any]]) -> None:
    data = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    assert [row.values for row in read(data, "t.jsonl")] == rows


@given(st.lists(st.tuples(words, words, words), min_size=1), st.sampled_from(",;\t|"))
def test_a_csv_comes_back_whatever_its_delimiter(rows: list[tuple[str, str, str]], delimiter: str) -> None:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(("image", "label", "claim"))
    writer.writerows(rows)
    found = read(buffer.getvalue().encode(), "t.csv")
    assert [tuple(row.values.values()) for row in found if isinstance(row.values, dict)] == rows


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_told_by_the_header(mark: str) -> None:
    text = f"image{mark}label{mark}claim\na.png{mark}real{mark}one, two; three\n".replace("one, two; three", '"1,2;3"')
    assert read(text.encode(), "t.csv")[0].values == {"image": "a.png", "label": "real", "claim": "1,2;3"}


def test_a_quote_that_is_never_closed_costs_its_own_row() -> None:
    rows = read(b'image,label\na,real\nb,"real\nc,fake\nd,real\n', "t.csv")
    assert [row.line for row in rows] == [2, 3, 4, 5]
    assert reasons(rows) == {3: RefusalReason.BROKEN_CSV}
    assert rows[3].values == {"image": "d", "label": "real"}


def test_a_quote_that_is_never_closed_in_a_long_table_costs_its_own_row() -> None:
    body = b"".join(b"%d,real\n" % number for number in range(5000))
    rows = read(b'image,label\nx,"real\n' + body, "t.csv")
    assert reasons(rows) == {2: RefusalReason.BROKEN_CSV}
    assert len(rows) == 5001


def test_rows_with_other_columns_or_other_bytes_are_refused_alone() -> None:
    rows = read("image,label\na,real,x\nb\nc,réal\n".encode("latin-1") + b"d,fake\n", "t.csv")
    assert reasons(rows) == {2: RefusalReason.WRONG_COLUMNS, 3: RefusalReason.WRONG_COLUMNS}
    assert rows[3].values == {"image": "d", "label": "fake"}


def test_a_byte_order_mark_is_no_part_of_a_name() -> None:
    assert read(b"\xef\xbb\xbfimage,label\na,real\n", "t.csv")[0].values == {"image": "a", "label": "real"}
    assert read(b'\xef\xbb\xbf{"image": "a"}\n', "t.jsonl")[0].values == {"image": "a"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"image": "\xff"}', RefusalReason.NOT_UTF8),
        (b'{"image": ', RefusalReason.NOT_JSON),
        (b"[1, 2]", RefusalReason.NOT_JSON),
        (b"[" * 100_000, RefusalReason.NOT_JSON),
        (b'{"n": ' + b"9" * 10_000 + b"}", RefusalReason.NOT_JSON),
        (b'{"image": "' + b"x" * MAX_LINE + b'"}', RefusalReason.LINE_TOO_LONG),
    ],
    ids=["latin-1", "torn", "a list", "nested", "a huge number", "long"],
)
def test_a_bad_line_is_refused_alone(line: bytes, reason: RefusalReason) -> None:
    rows = read(b'{"image": "a"}\n' + line + b'\n{"image": "b"}\n', "t.jsonl")
    assert reasons(rows) == {2: reason}
    assert [row.values for row in rows][::2] == [{"image": "a"}, {"image": "b"}]


class LongLine(io.RawIOBase):
    """A line of so many bytes that nobody stores, and a short one behind it."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._rest = b'"}\n{"image": "b"}\n'

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._left:
            size = min(self._left, len(buffer))
            buffer[:size] = b"x" * size
            self._left -= size
            return size
        size = min(len(self._rest), len(buffer))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv"])
def test_a_line_of_200_mb_never_lies_in_memory(name: str) -> None:
    size = 200_000_000
    with io.BufferedReader(LongLine(size)) as file:
        header = io.BytesIO(b"image,label\n" if name == "t.csv" else b"")
        table = JsonLines(file, size) if name == "t.jsonl" else CsvTable(_Chained(header, file), name, size)
        tracemalloc.start()
        rows = list(table.rows())
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert isinstance(rows[0].values, RowRefused)
    assert rows[0].values.reason is RefusalReason.LINE_TOO_LONG
    assert len(rows) == 2
    assert peak < 6 * MAX_LINE


class _Chained:
    """Two files, one behind the other."""

    def __init__(self, *files: Any) -> None:
        self._files = list(files)

    def readline(self, size: int) -> bytes:
        while self._files:
            if piece := self._files[0].readline(size):
                return bytes(piece)
            self._files.pop(0)
        return b""


def test_memory_does_not_grow_with_rows() -> None:
    def peak(rows: int) -> int:
        data = io.BytesIO(b"".join(b'{"image": "%d.png", "label": "real"}\n' % number for number in range(rows)))
        tracemalloc.start()
        assert sum(1 for _ in JsonLines(data, 1).rows()) == rows
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(40_000) < peak(400) + 100_000


def test_parquet_rows_are_numbered(tmp_path: Any) -> None:
    pq.write_table(pa.table({"image": ["a", None], "n": [1, 2]}), tmp_path / "t.parquet")
    with (tmp_path / "t.parquet").open("rb") as file:
        table = open_table(file, "t.parquet", 1)
        assert isinstance(table, ParquetTable)
        assert (table.columns, table.total) == (("image", "n"), 2)
        assert list(table.rows()) == [(1, {"image": "a", "n": 1}), (2, {"image": None, "n": 2})]


def test_parquet_text_that_is_no_utf8_spoils_its_own_value(tmp_path: Any) -> None:
    broken = pa.array([b"\xff", b"ok"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"image": broken}), tmp_path / "t.parquet")
    with (tmp_path / "t.parquet").open("rb") as file:
        first, second = (row.values for row in open_table(file, "t.parquet", 1).rows())
    assert isinstance(first, dict)
    assert first["image"].reason is RefusalReason.NOT_UTF8
    assert second == {"image": "ok"}


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("t.xlsx", b"PK", "is no table"),
        ("t.csv", b"", "is empty"),
        ("t.csv", b"\n\n", "has no header"),
        ("t.csv", "bild,läbel\n".encode("utf-16"), "not UTF-8"),
        ("t.csv", b"a,b,a\n", "two columns named 'a'"),
        ("t.csv", b'"a,b\n', "no readable header"),
        ("t.parquet", b"PAR1 but not really PAR1", "no readable Parquet"),
    ],
)
def test_an_unreadable_table_is_refused_in_one_sentence(name: str, data: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read(data, name)
    assert "\n" not in str(caught.value)
