import io
from pathlib import Path

import pytest
from PIL import Image

from components.config.paths import Paths
from components.errors import EviflowError
from components.records.admitted import admitted_episodes, teacher_bank
from components.records.case import Case
from components.records.episode import Episode, Termination
from components.records.image_writer import new_shards
from components.records.shards import write_episodes


def episode(case_id: str, seed: int) -> Episode:
    return Episode(
        episode_id=f"{case_id}--scripted--s{seed}",
        case=Case(case_id=case_id, image_path="x.png", image_sha256="0" * 64),
        policy="scripted",
        seed=seed,
        exposed_tools=(),
        action_budget=24,
        steps=(),
        report=None,
        termination=Termination.FINISHED,
        started_at="2031-01-01T00:00:00+00:00",
        duration_s=1.0,
    )


def picture(folder: Path, shade: int) -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), (shade, 0, 0)).save(buffer, format="PNG")
    folder.mkdir(parents=True, exist_ok=True)
    with new_shards(folder) as bank:
        return bank.put(buffer.getvalue())


def test_all_phases_are_read_the_first_one_first_and_each_by_id(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    write_episodes(paths.reviewed / "episodes.parquet", [episode("c2", 1), episode("c1", 2), episode("c1", 1)])
    first = ["c1--scripted--s1", "c1--scripted--s2", "c2--scripted--s1"]
    assert [item.episode_id for item in admitted_episodes(paths)] == first, "without a re-roll"
    write_episodes(paths.rerolled / "episodes.parquet", [episode("c0", 5), episode("a9", 7)])
    assert [item.episode_id for item in admitted_episodes(paths)] == [*first, "a9--scripted--s7", "c0--scripted--s5"]


def test_episodes_that_were_never_reviewed_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(EviflowError, match="eviflow stage review"):
        admitted_episodes(Paths(tmp_path))


def test_the_bank_has_the_pictures_of_every_phase_and_of_the_cases(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    folders = [paths.episodes, paths.rerolled / "attempt-02", paths.rerolled / "attempt-03", paths.benchmark, paths.web]
    digests = [picture(folder, number) for number, folder in enumerate(folders)]
    bank = teacher_bank(paths)
    assert all(digest in bank for digest in digests)
    assert "f" * 64 not in bank
