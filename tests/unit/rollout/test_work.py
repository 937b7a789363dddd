from pathlib import Path

import pytest

from components.config.paths import Paths
from components.rollout.work import rollout_key, work_folder


def key(root: Path, **settings: object) -> str:
    return rollout_key(Paths(root), settings=settings, inputs=["data"], code=["components/rollout"])


def fail_in(paths: Paths) -> None:
    with work_folder(paths, "episodes", "a" * 64) as folder:
        (folder / "ledger").write_text("1")
        _ = 1 / 0


def test_the_key_stands_for_settings_and_inputs(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    first = key(tmp_path, seed=1)
    assert key(tmp_path, seed=1) == first
    assert key(tmp_path, seed=2) != first
    (tmp_path / "data/new.txt").write_text("x")
    assert key(tmp_path, seed=1) != first


def test_work_stays_until_its_outputs_are_in_place(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    with pytest.raises(ZeroDivisionError):
        fail_in(paths)
    with work_folder(paths, "episodes", "a" * 64) as folder:
        assert (folder / "ledger").read_text() == "1"
    assert not (paths.work / "rollouts/episodes").exists()
    with work_folder(paths, "episodes", "b" * 64) as folder:
        assert list(folder.iterdir()) == []


def test_work_that_may_have_more_to_do_stays_without_that_of_other_keys(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    with work_folder(paths, "reroll", "a" * 64, keep=True) as folder:
        (folder / "ledger").write_text("1")
    with work_folder(paths, "reroll", "a" * 64, keep=True) as folder:
        assert (folder / "ledger").read_text() == "1"
    with work_folder(paths, "reroll", "b" * 64, keep=True):
        pass
    assert [path.name for path in (paths.work / "rollouts/reroll").iterdir()] == ["b" * 16]
