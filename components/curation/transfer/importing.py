"""`eviflow data import`: anybody's pictures and table become a benchmark's public cases and private gold.

Public is what the stage `benchmark` makes public: an id, and a picture by the hash of its content. Everything else that
the table says is private. Three things could carry it over, and are stopped here:

- *The picture's file.* Every picture is decoded and written anew as plain RGB PNG, upright, at most 1,024 pixels long,
  as `eviflow investigate` sees it; so EXIF, captions, private chunks, bytes behind the end and the file's name are
  gone. A PNG that is nothing but such pixels keeps its bytes.
- *The id.* A row's `id` is private, and the public one is a digest of it; a `case_id` is kept, if it tells nothing.
- *The order.* Cases are sorted by public id.
"""

import io
import os
import shutil
import tempfile
import warnings
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

from components.config.paths import Paths
from components.curation.transfer.archives import open_place
from components.curation.transfer.mapping import FieldMap
from components.curation.transfer.places import MAX_PICTURE, Place, refused, too_large
from components.curation.transfer.refusals import Refusal, RefusalReason, RowRefused, shown
from components.curation.transfer.rows import Row, read_row
from components.curation.transfer.shelf import Shelf, open_shelf
from components.curation.transfer.tables import RawRow, Table
from components.errors import UsageError
from components.progress import Progress
from components.records.case import Case, Split, Verdict
from components.records.image_bank import ImageBank, asset_path, sha256_hex
from components.records.image_check import PictureError, PictureFault, clean_picture
from components.records.image_writer import ImageWriter, new_shards
from components.storage.atomic import iterate_jsonl, open_synced, remove_leftovers, replace_folder

MAX_WORKERS = 4
"""Pictures at once at most: one of 64 megapixels takes some hundred MB."""
AHEAD = 8
"""Rows that wait for their pictures at most."""
_FAULTS: dict[PictureFault, RefusalReason] = {
    PictureFault.UNREADABLE: RefusalReason.PICTURE_UNREADABLE,
    PictureFault.TOO_LARGE: RefusalReason.PICTURE_TOO_LARGE,
    PictureFault.TOO_SMALL: RefusalReason.PICTURE_TOO_SMALL,
    PictureFault.ANIMATED: RefusalReason.PICTURE_ANIMATED,
}


@dataclass
class ImportSummary:
    """What became of the rows, and under which names the fields were found."""

    fields: FieldMap
    labels: Counter[Verdict] = field(default_factory=Counter)
    reasons: Counter[RefusalReason] = field(default_factory=Counter)
    examples: dict[RefusalReason, Refusal] = field(default_factory=dict)
    """The first refusal for each reason."""
    folder: Path | None = None
    """The public folder; None when nothing was written."""
    private: Path | None = None

    @property
    def imported(self) -> int:
        """Rows that are cases now."""
        return self.labels.total()

    @property
    def refused(self) -> int:
        """Rows that are not."""
        return self.reasons.total()


class _Candidate(NamedTuple):
    """A row in order, and its picture while it is written anew."""

    row: Row
    case_id: str
    picture: Future[bytes]


class _Intake:
    """Takes rows one after another; pictures, which are nearly all of the work, are written anew a few rows ahead."""

    def __init__(self, place: Place, shelf: Shelf, bank: ImageWriter | None, refusals: IO[bytes] | None) -> None:
        self._place, self._shelf, self._bank, self._refusals = place, shelf, bank, refusals

    def take(self, table: Table, summary: ImportSummary) -> None:
        with Progress("importing", table.total, table.unit) as progress, _workers() as pool:
            for line, item in self._ahead(table, summary.fields, pool):
                try:
                    summary.labels[self._accept(item)] += 1
                except RowRefused as error:
                    self._refuse(error.on(line), summary)
                progress.reach(table.position, f"{summary.imported} rows imported, {summary.refused} refused")

    def _ahead(
        self, table: Table, fields: FieldMap, pool: ThreadPoolExecutor
    ) -> Iterator[tuple[int, _Candidate | RowRefused]]:
        waiting: deque[tuple[int, _Candidate | RowRefused]] = deque()
        for raw in table.rows():
            waiting.append((raw.line, self._begin(raw, fields, pool)))
            if len(waiting) > AHEAD:
                yield waiting.popleft()
        yield from waiting

    def _begin(self, raw: RawRow, fields: FieldMap, pool: ThreadPoolExecutor) -> _Candidate | RowRefused:
        try:
            row = read_row(raw, fields)
            data = self._data(row)
        except RowRefused as error:
            return error
        return _Candidate(row, row.public_id(data), pool.submit(_clean, data, row.image))

    def _data(self, row: Row) -> bytes:
        if row.embedded is None:
            return self._place.picture(row.image)
        if len(row.embedded) > MAX_PICTURE:
            raise too_large(row.image, len(row.embedded))
        return row.embedded

    def _accept(self, item: _Candidate | RowRefused) -> Verdict:
        if isinstance(item, RowRefused):
            raise item
        self._shelf.check_id(item.case_id)
        picture = item.picture.result()
        digest = sha256_hex(picture)
        self._shelf.check_picture(digest)
        if self._bank is not None:
            self._bank.put(picture)
        case = Case(case_id=item.case_id, image_path=asset_path(digest), image_sha256=digest)
        self._shelf.add(item.row.line, case, item.row.gold(case.case_id), item.row.source(case.case_id))
        return item.row.verdict

    def _refuse(self, refusal: Refusal, summary: ImportSummary) -> None:
        summary.reasons[refusal.reason] += 1
        summary.examples.setdefault(refusal.reason, refusal)
        if self._refusals is not None:
            self._refusals.write(refusal.model_dump_json().encode() + b"\n")


@dataclass(frozen=True)
class ImportRequest:
    """What to import, and as what."""

    source: Path
    """A folder, a ZIP archive, or a table whose pictures lie beside it."""
    name: str
    split: Split
    table: str | None = None
    """The table, where `source` does not show which it is."""
    fields: FieldMap = field(default_factory=FieldMap)
    """What a mapping file says."""


def import_cases(request: ImportRequest, paths: Paths) -> ImportSummary:
    """Import a table and its pictures as one split of `data/imported/NAME` and `data/private/imported/NAME`.

    Both appear whole or not at all, the private half first. Importing a split again replaces it; the other split of the
    same name stays as it is. Memory does not grow with the number of rows.

    Raises:
        UsageError: the source or its table cannot be read, or not one row can be imported.

    """
    place, summary = open_place(request.source, request.table), ImportSummary(request.fields)
    target, private = paths.imports / request.name, paths.imports_gold / request.name
    split = request.split.value
    for folder in (target, private):
        remove_leftovers(folder)  # the checkout is held, so nobody else is writing
    with replace_folder(target) as public, replace_folder(private) as hidden, open_shelf(hidden) as shelf:
        with new_shards(public) as bank, open_synced(hidden / f"{split}.refused.jsonl") as refusals:
            for other in _other_splits(target, request.split):
                shelf.remember_other_split(target / f"{other.value}.jsonl")
                _keep_split(other, (target, private), (public, hidden), bank)
            _read(place, _Intake(place, shelf, bank, refusals), summary)
            if not summary.imported:
                raise UsageError(f"no row of {request.source} can be imported: {_mostly(summary)}")
        shelf.write("case", public / f"{split}.jsonl")
        shelf.write("gold", hidden / f"{split}.jsonl")
        shelf.write("source", hidden / f"{split}.sources.jsonl")
    summary.folder, summary.private = target, private
    return summary


def try_import(request: ImportRequest, paths: Paths) -> ImportSummary:
    """Go through everything that an import would, pictures included, and write nothing.

    Raises:
        UsageError: the source or its table cannot be read.

    """
    place, summary = open_place(request.source, request.table), ImportSummary(request.fields)
    target = paths.imports / request.name
    with tempfile.TemporaryDirectory(prefix="eviflow-") as folder, open_shelf(Path(folder)) as shelf:
        for other in _other_splits(target, request.split):
            shelf.remember_other_split(target / f"{other.value}.jsonl")
        _read(place, _Intake(place, shelf, None, None), summary)
    return summary


def _read(place: Place, intake: _Intake, summary: ImportSummary) -> None:
    with place.table() as table:
        if table.columns is not None:
            summary.fields.check(table.columns, "the table")
        intake.take(table, summary)


@contextmanager
def _workers() -> Iterator[ThreadPoolExecutor]:
    """Threads that write pictures; decoding and encoding let other threads run."""
    # Threads that set filters of their own restore each other's; here they all find, and leave, the same.
    with warnings.catch_warnings(), ThreadPoolExecutor(min(MAX_WORKERS, os.cpu_count() or 1)) as pool:
        warnings.simplefilter("ignore")
        yield pool


def _clean(data: bytes, name: str) -> bytes:
    try:
        return clean_picture(io.BytesIO(data), shown(name))
    except PictureError as error:
        raise refused(_FAULTS[error.fault], str(error)) from None


def _mostly(summary: ImportSummary) -> str:
    if not summary.examples:
        return "its table has none"
    reason, count = summary.reasons.most_common(1)[0]
    first = summary.examples[reason]
    return f"{count} of {summary.refused} are refused as {reason.value}, the first on line {first.line}: {first.detail}"


def _other_splits(folder: Path, split: Split) -> list[Split]:
    return [other for other in Split if other is not split and (folder / f"{other.value}.jsonl").exists()]


def _keep_split(split: Split, old: tuple[Path, Path], new: tuple[Path, Path], bank: ImageWriter) -> None:
    """Carry a split over: its pictures into the new bank, its public and private files by links where that can be."""
    pictures = ImageBank(old[0])
    for case in iterate_jsonl(old[0] / f"{split.value}.jsonl", Case):
        bank.put(pictures.read(case.image_sha256))
    for source, target in zip(old, new, strict=True):
        for kept in source.glob(f"{split.value}.*"):
            _link(kept, target / kept.name)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copyfile(source, target)
