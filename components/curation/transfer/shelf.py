"""Accepted rows on disk until all are there: memory stays the same however many rows a table has.

Written out, cases stand in the order of their ids, so that the order of the table, which often has all true pictures
first, tells nothing.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components.curation.transfer.refusals import RefusalReason, RowRefused
from components.curation.transfer.rows import Source
from components.records.case import Case, Gold
from components.storage.atomic import iterate_jsonl, open_synced

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE rows (case_id TEXT PRIMARY KEY, digest TEXT UNIQUE, line INTEGER, "case" TEXT, gold TEXT, source TEXT);
CREATE TABLE others (case_id TEXT PRIMARY KEY, digest TEXT);
CREATE INDEX others_digest ON others (digest);
"""


class Shelf:
    """Rows by case id and by picture, in a database that is thrown away. Use `open_shelf`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._db.executescript(_TABLES)

    def remember_other_split(self, cases: Path) -> None:
        """Refuse, from now on, rows whose id or picture is in the other split of the same import."""
        for case in iterate_jsonl(cases, Case):
            self._db.execute("INSERT INTO others VALUES (?, ?)", (case.case_id, case.image_sha256))

    def check_id(self, case_id: str) -> None:
        """Raises RowRefused when a row with the same id is there already."""
        self._check("case_id", case_id, RefusalReason.DUPLICATE_ID, "the same id", "id")

    def check_picture(self, digest: str) -> None:
        """Raises RowRefused when a row with the same picture is there already."""
        self._check("digest", digest, RefusalReason.DUPLICATE_PICTURE, "the same picture", "image")

    def _check(self, column: str, value: str, reason: RefusalReason, what: str, field: str) -> None:
        found = self._db.execute(f"SELECT line FROM rows WHERE {column} = ?", (value,)).fetchone()
        if found is not None:
            raise RowRefused(reason, f"{what} stands on line {found[0]} already", field)
        if self._db.execute(f"SELECT 1 FROM others WHERE {column} = ?", (value,)).fetchone() is not None:
            raise RowRefused(reason, f"{what} is in the other split of this import", field)

    def add(self, line: int, case: Case, gold: Gold, source: Source) -> None:
        """Keep a row."""
        texts = (record.model_dump_json() for record in (case, gold, source))
        self._db.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)", (case.case_id, case.image_sha256, line, *texts))

    def write(self, column: str, path: Path) -> None:
        """Write one record of each row, sorted by case id: the column `case`, `gold` or `source`."""
        with open_synced(path) as file:
            for (text,) in self._db.execute(f'SELECT "{column}" FROM rows ORDER BY case_id'):
                file.write(text.encode() + b"\n")


@contextmanager
def open_shelf(folder: Path) -> Iterator[Shelf]:
    """An empty shelf in `folder`, which is as it was when the block ends."""
    path = folder / "rows.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield Shelf(connection)
    finally:
        connection.close()
        path.unlink(missing_ok=True)
