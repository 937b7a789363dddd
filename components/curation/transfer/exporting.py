"""`eviflow data export`: a benchmark's cases as a folder for others, in the released layout or for `datasets`."""

import shutil
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from components.config.paths import SOURCE_ACCESS
from components.curation.transfer.hub import ShardWriter, dataset_card
from components.curation.transfer.released import Release, ReleasedCase, metadata_row
from components.errors import UsageError
from components.progress import track
from components.records.base import Record
from components.records.case import Split
from components.storage.atomic import replace_folder, write_bytes, write_text


class ExportFormat(StrEnum):
    """The layout of an export."""

    RELEASED = "released"
    """`images/` and `metadata.jsonl`; importing it gives the same cases again."""
    DATASETS = "datasets"
    """Parquet shards that `datasets.load_dataset(FOLDER)` reads."""


class ExportSummary(Record):
    """What was written."""

    cases: dict[Split, int]
    private: bool
    """Whether labels, claims and sources are in it."""


def export_cases(
    folder: Path, target: Path, layout: ExportFormat, private: Path | None = None, split: Split | None = None
) -> ExportSummary:
    """Write the cases of `folder` to `target`, which appears whole or not at all.

    Args:
        folder: a benchmark's public folder.
        target: must be empty or not there.
        layout: how to write them.
        private: the folder of their gold records; None exports public fields alone.
        split: one split; None exports every one that there is.

    Raises:
        UsageError: there is nothing to export, or something at `target`.
        EviflowError: a picture is missing or damaged, or a case has no gold record.

    """
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise UsageError(f"{target} is not empty or no folder; name a folder that is not there yet")
    release = Release(folder, private)
    if split is not None and split not in release.splits:
        raise UsageError(f"{folder} holds no {split.value}.jsonl; it has {', '.join(release.splits)}")
    splits = release.splits if split is None else (split,)
    write = _write_released if layout is ExportFormat.RELEASED else _write_datasets
    with replace_folder(target) as staging:
        counts = write(staging, release, splits)
        if (folder / SOURCE_ACCESS).exists():
            # Whoever investigates the cases elsewhere must keep out of the same places.
            shutil.copyfile(folder / SOURCE_ACCESS, staging / SOURCE_ACCESS)
    return ExportSummary(cases=counts, private=private is not None)


def _tracked(release: Release, split: Split) -> Iterator[ReleasedCase]:
    return track(release.cases(split), f"exporting {split.value}", release.count(split), "cases")


def _write_released(staging: Path, release: Release, splits: tuple[Split, ...]) -> dict[Split, int]:
    """One split lies at the top; several have a folder each, because an import reads one split."""
    counts = {}
    for split in splits:
        folder = staging if len(splits) == 1 else staging / split.value
        folder.mkdir(exist_ok=True)
        counts[split] = 0
        with (folder / "metadata.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for item in _tracked(release, split):
                file.write(_row(folder, item) + "\n")
                counts[split] += 1
    return counts


def _row(folder: Path, item: ReleasedCase) -> str:
    path = f"images/{item.case.case_id}.png"
    write_bytes(folder / path, item.picture)
    return metadata_row(item.case, path, item.private)


def _write_datasets(staging: Path, release: Release, splits: tuple[Split, ...]) -> dict[Split, int]:
    counts = {}
    for split in splits:
        with ShardWriter(staging / "data", split.value, release.has_private) as shards:
            for item in _tracked(release, split):
                shards.add(item)
        counts[split] = shards.rows
    named = {split.value: count for split, count in counts.items()}
    write_text(staging / "README.md", dataset_card(named, release.has_private))
    return counts
