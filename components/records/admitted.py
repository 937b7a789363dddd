"""What is learned from: the teacher's admitted episodes of all phases, and the pictures that they show."""

from collections.abc import Iterator
from pathlib import Path

from components.config.paths import Paths
from components.errors import EviflowError
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.records.shards import count_episodes, iterate_episodes

ADMITTED = "episodes.parquet"
"""The admitted episodes of stage `review` in `data/reviewed`, and of stage `reroll` in `data/rerolled`."""


def admitted_episodes(paths: Paths) -> list[Episode]:
    """Every admitted episode, masked: those of the first phase by id, then those of later phases by id.

    Raises:
        EviflowError: the first phase was not reviewed.

    """
    return list(iterate_admitted(paths))


def iterate_admitted(paths: Paths) -> Iterator[Episode]:
    """The same one after another, without holding more than a group of them."""
    for file in _files(paths):
        yield from iterate_episodes(file)


def count_admitted(paths: Paths) -> int:
    """How many there are; raises as `admitted_episodes` does."""
    return sum(map(count_episodes, _files(paths)))


def teacher_bank(paths: Paths) -> ImageBank:
    """Every picture that the teacher's episodes show, those of the cases included; nothing new is put into it."""
    return ImageBank(paths.episodes, also=[*later_phases(paths), paths.benchmark, paths.web])


def later_phases(paths: Paths) -> list[Path]:
    """The folders of the phases that stage `reroll` collected, in order; each has all its episodes and pictures."""
    return sorted(path for path in paths.rerolled.glob("attempt-*") if path.is_dir())


def _files(paths: Paths) -> list[Path]:
    first, later = paths.reviewed / ADMITTED, paths.rerolled / ADMITTED
    if not first.exists():
        raise EviflowError(f"{first} is not there; run `eviflow stage review` or `dvc checkout`")
    return [first, *([later] if later.exists() else [])]
