"""Whether a finished benchmark leaks: from one split into the other, or from the answers into what everybody sees.

Nothing of the build is trusted: rows, gold records and picture files are read as they lie on disk.
"""

import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from PIL import Image
from pydantic import BaseModel

from components.config.paths import SOURCE_ACCESS
from components.curation.duplicates import Duplicates, looks
from components.curation.giveaways import kind_giveaways, order_giveaways, value_giveaways
from components.errors import EviflowError
from components.progress import track
from components.records.case import Case, ErrorType, Gold, Split, Verdict
from components.records.image_bank import ImageBank, sha256_hex
from components.records.image_check import holds_pixels_only
from components.records.source_access import SourceAccess
from components.storage.atomic import read_jsonl
from components.world.store import read_pictures


class LeakKind(StrEnum):
    """What leaks."""

    CASE = "case"
    """A case id is in both splits."""
    CANDIDATE = "candidate"
    """A candidate id is in both splits, or in a public file."""
    EVENT = "event"
    """An event is in both splits."""
    PERSON = "person"
    """A face is in both splits."""
    PAGE = "page"
    """A page documents cases of both splits."""
    SOURCE = "source"
    """A documented fact is evidence in both splits."""
    PICTURE = "picture"
    """The same file is in both splits."""
    REACHABLE = "reachable"
    """The place on the web where a case's picture stands is not kept from investigations."""
    NEAR_PICTURE = "near_picture"
    """A picture of one split is a near-duplicate of one of the other."""
    FIELD = "field"
    """A public row has a field that it must not have."""
    NAME = "name"
    """An id or a file name tells something about the answer."""
    ORDER = "order"
    """Labels follow from the order of rows or the numbers in ids."""
    METADATA = "metadata"
    """A picture file holds more than pixels."""
    FILE = "file"
    """Size, dimensions or format of the files tell labels apart."""


class Leak(BaseModel):
    """One violation."""

    kind: LeakKind
    item: str
    """What it is about: an id, a URL, a hash, or a split."""
    detail: str


@dataclass(frozen=True)
class _File:
    """What a picture file is like without looking at it."""

    digest: str
    bytes: int
    size: str
    form: str
    """Format and mode."""
    pixels_only: bool


@dataclass(frozen=True)
class _Part:
    """One split as it lies on disk; rows and gold records with the same id belong together."""

    split: Split
    rows: list[dict[str, Any]]
    gold: dict[str, Gold]

    def labels(self, of: Callable[[Gold], str]) -> list[str]:
        """A label for each row that has a gold record."""
        return [of(self.gold[row["case_id"]]) for row in self.judged()]

    def judged(self) -> list[dict[str, Any]]:
        """Rows with a gold record."""
        return [row for row in self.rows if row.get("case_id") in self.gold]


def require_no_leaks(public: Path, private: Path, web: Path | None = None) -> None:
    """Refuse a benchmark that leaks; arguments as in `find_leaks`.

    Raises:
        EviflowError: it does; the message names the first item of each kind.

    """
    leaks = find_leaks(public, private, web)
    if leaks:
        first = {leak.kind: leak for leak in reversed(leaks)}
        named = "; ".join(f"{kind.value} {leak.item}: {leak.detail}" for kind, leak in sorted(first.items()))
        raise EviflowError(f"the benchmark leaks in {len(leaks)} places, of which: {named}; mend what builds it")


def find_leaks(public: Path, private: Path, web: Path | None = None) -> list[Leak]:
    """Every violation, by kind. A picture may stand on the web where no investigation comes.

    Args:
        public: the benchmark's folder: a file of rows for each split, and the pictures.
        private: the folder of its gold records.
        web: the folder of the web that is investigated; None leaves out whether pictures stand there.

    """
    parts = [_read(split, public, private) for split in Split]
    leaks = [*_crossings(parts), *_named_candidates(parts, public)]
    leaks += [leak for part in parts for leak in (*_fields(part), *_names(part), *_orders(part))]
    files = _files(parts, ImageBank(public), leaks)
    leaks += [leak for part in parts for leak in _file_leaks(part, files)]
    leaks += _reachable(parts, files, public / SOURCE_ACCESS, web)
    order = list(LeakKind)
    return sorted(leaks, key=lambda leak: (order.index(leak.kind), leak.item, leak.detail))


def _read(split: Split, public: Path, private: Path) -> _Part:
    lines = (public / f"{split.value}.jsonl").read_bytes().split(b"\n")
    rows = [json.loads(line) for line in lines if line]
    return _Part(split, rows, {gold.case_id: gold for gold in read_jsonl(private / f"{split.value}.jsonl", Gold)})


_SHARED: dict[LeakKind, Callable[[Gold], Iterable[str]]] = {
    LeakKind.CASE: lambda gold: [gold.case_id],
    LeakKind.CANDIDATE: lambda gold: [gold.candidate_id] if gold.candidate_id else [],
    LeakKind.EVENT: lambda gold: [gold.event_id] if gold.event_id else [],
    LeakKind.PERSON: lambda gold: gold.person_ids,
    LeakKind.PAGE: lambda gold: [
        *gold.official_urls,
        *(item.canonical_url for item in gold.acceptable_evidence),
        *_collected_at(gold),
    ],
    LeakKind.SOURCE: lambda gold: [item.source_id for item in gold.acceptable_evidence],
}
"""What no two splits may have in common."""


def _crossings(parts: Sequence[_Part]) -> Iterator[Leak]:
    for kind, items in _SHARED.items():
        users: dict[str, dict[Split, str]] = defaultdict(dict)
        for part in parts:
            for gold in part.gold.values():
                for item in items(gold):
                    users[item].setdefault(part.split, gold.case_id)
            if kind is LeakKind.CASE:
                for row in part.rows:
                    users[str(row.get("case_id"))].setdefault(part.split, str(row.get("case_id")))
        for item, cases in users.items():
            if len(cases) > 1:
                yield Leak(kind=kind, item=item, detail=f"in both splits, of cases {' and '.join(cases.values())}")


def _collected_at(gold: Gold) -> tuple[str, ...]:
    source = gold.provenance.source if gold.provenance else None
    return source.addresses if source else ()


def _named_candidates(parts: Sequence[_Part], public: Path) -> Iterator[Leak]:
    """Candidate ids that stand in public rows or in the names of public files, anywhere within a word."""
    ids = {gold.candidate_id for part in parts for gold in part.gold.values()} - {""}
    texts = {f"{part.split.value}.jsonl": [json.dumps(row) for row in part.rows] for part in parts}
    texts["a file's name"] = [path.relative_to(public).as_posix() for path in sorted(public.rglob("*"))]
    lengths = sorted({len(item) for item in ids})
    for place, lines in texts.items():
        pieces = ((line, at, size) for line in lines for size in lengths for at in range(len(line) - size + 1))
        for item in sorted(ids.intersection(line[at : at + size] for line, at, size in pieces)):
            yield Leak(kind=LeakKind.CANDIDATE, item=item, detail=f"{place} tells it")


def _fields(part: _Part) -> Iterator[Leak]:
    for at, row in enumerate(part.rows):
        for name in sorted(row.keys() - Case.model_fields.keys()):
            item = str(row.get("case_id", f"{part.split.value}.jsonl row {at + 1}"))
            yield Leak(kind=LeakKind.FIELD, item=item, detail=f"the public row has the field {name}")


def _names(part: _Part) -> Iterator[Leak]:
    for row in part.judged():
        gold = part.gold[row["case_id"]]
        telling = {*Verdict, *ErrorType, gold.event_id, gold.event_title, *gold.person_ids} - {""}
        for name in ("case_id", "image_path"):
            text = _plain(str(row.get(name)))
            if found := sorted(word for word in telling if _plain(word) in text):
                yield Leak(kind=LeakKind.NAME, item=gold.case_id, detail=f"its {name} tells {found[0]}")
        if Path(str(row.get("image_path"))).stem != row.get("image_sha256"):
            yield Leak(kind=LeakKind.NAME, item=gold.case_id, detail="its picture is not named by its hash")


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _verdict(gold: Gold) -> str:
    return gold.factual_status.value


def _type(gold: Gold) -> str:
    return gold.error_type.value if gold.error_type else _verdict(gold)


def _orders(part: _Part) -> Iterator[Leak]:
    ids = [row["case_id"] for row in part.judged()]
    found = [pattern for of in (_verdict, _type) for pattern in order_giveaways(part.labels(of), ids)]
    for pattern in dict.fromkeys(found):
        yield Leak(kind=LeakKind.ORDER, item=part.split.value, detail=pattern)


def _files(parts: Sequence[_Part], bank: ImageBank, leaks: list[Leak]) -> dict[str, _File]:
    """Read every picture once, by case id; adds what the splits share to `leaks`."""
    files: dict[str, _File] = {}
    index, owners, digests = Duplicates(), list[tuple[Split, str]](), dict[str, tuple[Split, str]]()
    rows = [(part.split, row) for part in parts for row in part.rows]
    for split, row in track(rows, "checking for leaks", len(rows), "pictures"):
        name, data = str(row["case_id"]), bank.read(row["image_sha256"])
        with Image.open(io.BytesIO(data)) as image:
            files[name] = _described(image, data)
            seen = looks(image)
        owner = digests.setdefault(files[name].digest, (split, name))
        if owner[0] is not split:
            detail = f"{owner[0].value} and {split.value} both have it, in {owner[1]} and {name}"
            leaks.append(Leak(kind=LeakKind.PICTURE, item=files[name].digest, detail=detail))
            continue
        for other, twin in (owners[at] for at in index.of(seen)):
            if other is not split:
                leaks.append(Leak(kind=LeakKind.NEAR_PICTURE, item=name, detail=f"a near-duplicate of {twin}"))
        index.add(seen)
        owners.append((split, name))
    return files


def _reachable(parts: Sequence[_Part], files: dict[str, _File], access: Path, web: Path | None) -> Iterator[Leak]:
    """Where cases were collected, and wherever else their pictures stand, unless it is excluded."""
    excluded = set(SourceAccess.model_validate_json(access.read_bytes()).excluded_urls) if access.exists() else set()
    places: dict[str, list[str]] = defaultdict(list)
    for picture in read_pictures(web) if web else ():
        places[picture.sha256] += [picture.page_url, picture.image_url]
    for part in parts:
        for row in part.rows:
            gold = part.gold.get(row["case_id"])
            known = [*(_collected_at(gold) if gold else ()), *places[files[row["case_id"]].digest]]
            for url in dict.fromkeys(known):
                if url not in excluded:
                    yield Leak(kind=LeakKind.REACHABLE, item=row["case_id"], detail=f"its picture is at {url}")


def _described(image: Image.Image, data: bytes) -> _File:
    pixels_only = not image.info and not image.getexif() and (image.format != "PNG" or holds_pixels_only(data))
    size = f"{image.width} x {image.height}"
    return _File(sha256_hex(data), len(data), size, f"{image.format} {image.mode}", pixels_only)


def _file_leaks(part: _Part, files: dict[str, _File]) -> Iterator[Leak]:
    for row in part.rows:
        if not files[row["case_id"]].pixels_only:
            yield Leak(kind=LeakKind.METADATA, item=row["case_id"], detail="its picture file holds more than pixels")
    own = [files[row["case_id"]] for row in part.judged()]
    labels = part.labels(_verdict)
    for pattern in (
        *value_giveaways("the size of the file", [file.bytes for file in own], labels),
        *kind_giveaways("the size in pixels", [file.size for file in own], labels),
        *kind_giveaways("the format of the file", [file.form for file in own], labels),
    ):
        yield Leak(kind=LeakKind.FILE, item=part.split.value, detail=pattern)
