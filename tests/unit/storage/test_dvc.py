"""The DVC wrapper on a small pipeline of its own, without git."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from components.errors import BudgetReached, EviflowError
from components.storage import dvc

PIPELINE = """\
stages:
  first:
    cmd: python make.py first
    params: [first]
    outs: [out/first]
  second:
    cmd: python make.py second
    deps: [out/first]
    outs: [out/second]
  broken:
    cmd: python make.py broken
    outs: [out/broken]
"""
MAKE = """\
import pathlib, sys
name = sys.argv[1]
if name == "broken":
    sys.exit("nothing works")
pathlib.Path("ran").open("a").write(name + "\\n")
folder = pathlib.Path("out") / name
folder.mkdir(parents=True)
(folder / "file").write_text(name)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text("[core]\n    analytics = false\n")
    (tmp_path / "dvc.yaml").write_text(PIPELINE)
    (tmp_path / "params.yaml").write_text("first: {value: 1}\n")
    (tmp_path / "make.py").write_text(MAKE)
    return tmp_path


def ran(root: Path) -> list[str]:
    path = root / "ran"
    return path.read_text().split() if path.exists() else []


def test_a_stage_is_built_once_and_recorded(root: Path) -> None:
    assert dvc.outs(root) == []
    assert set(dvc.status(root)) == {"first", "second", "broken"}
    dvc.repro(root, "second")
    dvc.repro(root, "second")
    assert ran(root) == ["first", "second"]
    [out] = dvc.outs(root, "second")
    assert (out.path, out.size, len(out.digest)) == ("out/second", 6, 36)
    assert set(dvc.status(root)) == {"broken"}


def test_a_single_stage_leaves_the_others_alone(root: Path) -> None:
    dvc.repro(root, "first", single=True)
    (root / "params.yaml").write_text("first: {value: 2}\n")
    dvc.repro(root, "second", single=True)
    assert ran(root) == ["first", "second"]


def test_a_failing_stage_is_named_and_shown(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(EviflowError, match="stage `broken` failed"):
        dvc.repro(root, "broken")
    assert "nothing works" in capfd.readouterr().err


LOCK_HOLDER = (
    "import sys; from dvc.repo import Repo; repo = Repo(sys.argv[1]);"
    "repo.lock.lock(); print('locked', flush=True); sys.stdin.readline(); repo.lock.unlock()"
)


def test_a_stage_that_stops_at_its_budget_is_told_from_one_that_fails(root: Path) -> None:
    (root / "make.py").write_text("raise SystemExit(4)")
    with pytest.raises(BudgetReached, match="stage `first` has spent its budget, see above; raise it"):
        dvc.repro(root, "first")


def lock_repo(root: Path) -> "subprocess.Popen[str]":
    dvc.allow_missing_git(root)
    argv = [sys.executable, "-c", LOCK_HOLDER, str(root)]
    holder = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "locked\n"
    return holder


def test_a_held_lock_is_waited_for(root: Path) -> None:
    holder = lock_repo(root)
    timer = threading.Timer(6.0, holder.communicate, ["go\n"])
    timer.start()
    dvc.repro(root, "first")
    timer.join()
    assert ran(root) == ["first"]


def test_a_lock_held_for_too_long_ends_in_a_sentence(root: Path) -> None:
    holder = lock_repo(root)
    with pytest.raises(dvc.DvcLockTimeout, match="another DVC process holds"):
        dvc.repro(root, "first", lock_deadline_s=1.0)
    holder.communicate("go\n")
    assert ran(root) == []
