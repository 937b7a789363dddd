"""What a case looks like outside the project: one row, public fields and, where they are given, private ones."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from components.curation.transfer.rows import Source
from components.errors import EviflowError, UsageError
from components.records.case import Case, Gold, Split
from components.records.image_bank import ImageBank
from components.storage.atomic import iterate_jsonl, read_jsonl

PUBLISHED_FIELDS = ("split", "label", "claim", "category", "family", "route", "style", "provenance", "image_origin")
"""What the release's `metadata.jsonl` tells of a case, besides its public row."""
PRIVATE_FIELDS = (
    *("label", "claim", "explanation", "category", "provenance", "image_origin", "id", "original_path"),
    *("family", "route", "style", "split"),
)
"""In the order in which they are written. An import finds those of the first line by these names."""


class ReleasedCase(NamedTuple):
    """One case with its picture."""

    case: Case
    picture: bytes
    """PNG."""
    private: dict[str, str]
    """By `PRIVATE_FIELDS`; empty when only public fields are exported."""


class Release:
    """The cases of a benchmark's folder, read one at a time.

    Args:
        folder: public cases and pictures, as `eviflow data import` or the stage `benchmark` writes them.
        private: gold records and, for an import, their sources; None exports public fields alone.

    Raises:
        UsageError: `folder` holds no cases.

    """

    def __init__(self, folder: Path, private: Path | None) -> None:
        self._folder, self._private = folder, private
        self.splits = tuple(split for split in Split if (folder / f"{split.value}.jsonl").is_file())
        if not self.splits:
            raise UsageError(f"{folder} holds neither train.jsonl nor test.jsonl; name a folder such as data/evilens_f")

    @property
    def has_private(self) -> bool:
        """Whether cases come with their private fields."""
        return self._private is not None

    def count(self, split: Split) -> int:
        """How many cases a split has."""
        with (self._folder / f"{split.value}.jsonl").open("rb") as file:
            return sum(line != b"\n" for line in file)

    def cases(self, split: Split) -> Iterator[ReleasedCase]:
        """The cases of a split, in the order of the file.

        Raises:
            EviflowError: a picture is missing or not the one that was recorded, or a case has no gold record.

        """
        gold, sources = self._gold(split), self._sources(split)
        bank = ImageBank(self._folder)
        for case in iterate_jsonl(self._folder / f"{split.value}.jsonl", Case):
            fields = self._fields(case.case_id, split, gold, sources)
            yield ReleasedCase(case, bank.read(case.image_sha256), fields)

    def _gold(self, split: Split) -> dict[str, Gold]:
        if self._private is None:
            return {}
        path = self._private / f"{split.value}.jsonl"
        if not path.is_file():
            raise UsageError(f"{path} does not exist; name the folder of the gold records with --private")
        return {gold.case_id: gold for gold in read_jsonl(path, Gold)}

    def _sources(self, split: Split) -> dict[str, Source]:
        path = self._private / f"{split.value}.sources.jsonl" if self._private is not None else None
        if path is None or not path.is_file():
            return {}
        return {source.case_id: source for source in read_jsonl(path, Source)}

    def _fields(self, case_id: str, split: Split, golds: dict[str, Gold], sources: dict[str, Source]) -> dict[str, str]:
        if self._private is None:
            return {}
        if case_id not in golds:
            raise EviflowError(f"{self._private} has no gold record of {case_id}; name the folder that belongs to it")
        return private_fields(golds[case_id], split, sources.get(case_id))


def private_fields(gold: Gold, split: Split, source: Source | None = None) -> dict[str, str]:
    """What a gold record, and for an import its source, tell of a case, by `PRIVATE_FIELDS`."""
    kind = gold.error_type
    category = kind.value if kind else ""
    values = (
        gold.factual_status.value,
        gold.target_claim,
        source.explanation if source else gold.explanation,
        source.category if source else category,
        source.provenance if source else " ".join(gold.official_urls),
        gold.image_origin,
        source.source_id if source else gold.candidate_id,
        source.original_path if source else "",
        kind.family.value if kind else "",
        gold.route,
        gold.style,
        split.value,
    )
    return dict(zip(PRIVATE_FIELDS, values, strict=True))


def metadata_row(case: Case, image_path: str, private: Mapping[str, str]) -> str:
    """A line of `metadata.jsonl`: the public row with the picture's path as given, and what is not empty of the rest.

    An empty original path is written too: left out, an import would take the path inside the export for it.
    """
    public = {"case_id": case.case_id, "image_path": image_path, "image_sha256": case.image_sha256}
    told = {name: value for name, value in private.items() if value or name == "original_path"}
    return json.dumps(public | told, ensure_ascii=False)


def published_row(case: Case, gold: Gold, split: Split) -> str:
    """The line of a case in the release's `metadata.jsonl`."""
    fields = private_fields(gold, split)
    return metadata_row(case, case.image_path, {name: fields[name] for name in PUBLISHED_FIELDS})
