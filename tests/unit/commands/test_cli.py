"""The command line as users meet it: a process, its output and its exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[3]


def eviflow(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    argv = [sys.executable, "-m", "components.cli", *arguments]
    return subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


DATA = [("data", name) for name in ("build", "import", "export", "show", "review", "card", "log", "verify", "rollback")]
COMMANDS = [(), ("run",), ("stage",), ("investigate",), ("doctor",), ("world", "serve"), *DATA]


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_every_command_has_help_with_an_example(command: tuple[str, ...]) -> None:
    done = eviflow(*command, "--help")
    assert done.returncode == 0
    assert "Example:" in done.stdout
    assert f"eviflow {' '.join(command)}".strip() in done.stdout


def test_outside_a_checkout_one_sentence_says_so(tmp_path: Path) -> None:
    done = eviflow("run", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"eviflow: {tmp_path} has no params.yaml; run inside a checkout of EviFlow, or name one with --root\n"
    )


def test_an_unknown_stage_is_answered_with_the_known_ones() -> None:
    done = eviflow("stage", "nope")
    assert (done.returncode, done.stdout) == (2, "")
    told = "the stages are world, benchmark, panel, episodes, review, reroll, policy, sft-rows, sft, evaluate"
    assert told in done.stderr


def test_only_the_stage_that_makes_rows_shows_any() -> None:
    done = eviflow("stage", "sft", "--show", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("eviflow: --show prints what stage `sft-rows` has made; `sft` has nothing of that kind\n")


def test_a_wrong_key_ends_a_run_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("sft:\n  step: 1\n")
    done = eviflow("--root", str(tmp_path), "run")
    assert done.returncode == 2
    assert "unknown key `sft.step`; did you mean `sft.steps`?" in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["params.yaml"]


def test_a_traceback_is_shown_on_request_only(tmp_path: Path) -> None:
    assert "Traceback" in eviflow("--debug", "run", cwd=tmp_path).stderr


def test_a_picture_that_is_none_is_refused(tmp_path: Path) -> None:
    picture = tmp_path / "empty.png"
    picture.touch()
    done = eviflow("investigate", str(picture), "--policy", "scripted")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert str(picture) in done.stderr


@pytest.mark.parametrize(
    ("option", "wrong", "near"),
    [
        ("--policy", "scriptde", "scripted"),
        ("--transport", "lvie", "live"),
        ("--tools", "visit,text_serch", "text_search"),
        ("--without", "visuals", "visual"),
    ],
)
def test_a_wrong_name_of_a_choice_is_answered_with_the_nearest_right_one(
    tmp_path: Path, option: str, wrong: str, near: str
) -> None:
    Image.new("RGB", (64, 64)).save(tmp_path / "picture.png")
    (tmp_path / "params.yaml").touch()
    done = eviflow("--root", str(tmp_path), "investigate", str(tmp_path / "picture.png"), option, wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the nearest right name is `{near}`" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_option_is_wrong_usage() -> None:
    assert eviflow("run", "--fast").returncode == 2
