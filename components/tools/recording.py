"""What services answered, kept: one SQLite file, and a seal that says that it is whole.

An answer is kept once for each request, whoever asks. A failure is kept for the action that met it, since the next one
may have been luckier. While a recording grows, every answer is on disk before anybody reads it, and a killed run is
taken up by recording again. `seal.json`, written last, names the file's digest; only what is sealed is replayed.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from components.errors import EviflowError, UsageError
from components.records.base import Record
from components.storage.atomic import write_bytes, write_json
from components.storage.identity import digest_file

DATABASE, SEAL = "answers.sqlite", "seal.json"
_TABLES = """
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, request TEXT, status INTEGER, headers TEXT, body BLOB);
CREATE TABLE IF NOT EXISTS failures (
    key TEXT, asker TEXT, attempt INTEGER, request TEXT, fault TEXT, status INTEGER, headers TEXT, body BLOB,
    PRIMARY KEY (key, asker, attempt)
);
"""
_ROW = "status, headers, body"


class Seal(Record):
    """What says that a recording is whole."""

    schema_version: Literal["eviflow-recording-v1"] = "eviflow-recording-v1"
    sha256: str
    """Of the SQLite file."""
    answers: int
    failures: int


class Kept(NamedTuple):
    """An answer, or a failure to answer."""

    status: int
    headers: dict[str, str]
    body: bytes
    fault: str = ""
    """Instead of an answer: the exception's name."""


class Recording:
    """An open recording.

    Args:
        connection: to its file.

    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def answer(self, key: str) -> Kept | None:
        """The answer to a request."""
        row = self._connection.execute(f"SELECT {_ROW}, '' FROM answers WHERE key = ?", (key,)).fetchone()
        return _kept(row) if row else None

    def failures(self, key: str, asker: str | None) -> list[Kept]:
        """The failures that one asker met with a request, in order; of any asker for None."""
        whose, values = ("", [key]) if asker is None else (" AND asker = ?", [key, asker])
        query = f"SELECT {_ROW}, fault FROM failures WHERE key = ?{whose} ORDER BY asker, attempt"
        return [_kept(row) for row in self._connection.execute(query, values)]

    def keep(self, key: str, request: str, kept: Kept) -> None:
        """Keep an answer."""
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", (key, request, *_columns(kept))
            )

    def fail(self, key: str, asker: str, request: str, kept: Kept) -> None:
        """Keep a failure, after those that the same asker has met before."""
        with self._connection:
            self._connection.execute(
                "INSERT INTO failures SELECT ?, ?, COUNT(*), ?, ?, ?, ?, ? FROM failures WHERE key = ? AND asker = ?",
                (key, asker, request, kept.fault, *_columns(kept), key, asker),
            )

    def overcome(self, key: str, asker: str) -> None:
        """The asker has its answer after all; what failed before changes nothing any more."""
        with self._connection:
            self._connection.execute("DELETE FROM failures WHERE key = ? AND asker = ?", (key, asker))

    def count(self, table: Literal["answers", "failures"]) -> int:
        """Rows of a table."""
        return int(self._connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])


@contextmanager
def recorded(folder: Path) -> Iterator[Recording]:
    """A recording that grows; sealed when the block ends well.

    Raises:
        UsageError: another process records into the folder.

    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / DATABASE
    with closing(_growing(path)) as connection:
        (folder / SEAL).unlink(missing_ok=True)
        recording = Recording(connection)
        yield recording
        counts = {"answers": recording.count("answers"), "failures": recording.count("failures")}
        # One file is left, without a journal beside it.
        connection.execute("PRAGMA journal_mode = DELETE")
    write_json(folder / SEAL, Seal(sha256=digest_file(path), **counts))


@contextmanager
def replayed(folder: Path) -> Iterator[Recording]:
    """A sealed recording.

    Raises:
        UsageError: there is none.
        EviflowError: it is not sealed, or not what was sealed.

    """
    seal, path = read_seal(folder), folder / DATABASE
    if not path.is_file() or digest_file(path) != seal.sha256:
        raise EviflowError(f"{path} is not the file that was sealed; check it out with DVC, or record again")
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        yield Recording(connection)


def read_seal(folder: Path) -> Seal:
    """The seal of a recording; raises as `replayed` does."""
    if not (folder / SEAL).is_file():
        if (folder / DATABASE).is_file():
            raise EviflowError(f"{folder} is not sealed, its run has not ended; run it again with `transport: record`")
        raise UsageError(f"{folder} holds no recording; name another with `tools.recording`, or record one")
    return Seal.model_validate_json((folder / SEAL).read_bytes())


def _growing(path: Path) -> sqlite3.Connection:
    if path.is_symlink() or (path.exists() and path.stat().st_nlink > 1):
        # A link into a cache of data; what lies there is never written to.
        content = path.read_bytes()
        path.unlink()
        write_bytes(path, content)
    connection = sqlite3.connect(path, timeout=1.0)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_TABLES)
    except sqlite3.OperationalError as error:
        connection.close()
        raise UsageError(
            f"{path} cannot be written ({error}); another process may be recording there, wait or name another folder"
        ) from error
    return connection


def _columns(kept: Kept) -> tuple[int, str, bytes]:
    return kept.status, json.dumps(kept.headers, sort_keys=True), zlib.compress(kept.body, 1)


def _kept(row: tuple[int, str, bytes, str]) -> Kept:
    status, headers, body, fault = row
    found: Mapping[str, str] = json.loads(headers)
    return Kept(status, dict(found), zlib.decompress(body), fault)
