"""The stage and the card as they are called."""

import os
import subprocess
import sys
from pathlib import Path

from release_samples import let_people_decide

from components.config.paths import Paths

ROOT = Path(__file__).parents[3]


def eviflow(paths: Paths, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    argv = [sys.executable, "-m", "components.cli", "--root", str(paths.root), *arguments]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)


def test_the_stage_waits_for_people_in_one_sentence_and_goes_on_when_they_are_done(paths: Paths) -> None:
    paths.params.write_text("panel: {reviewers: people}\n")
    let_people_decide(paths, names=("ada",))
    done = eviflow(paths, "stage", "panel")
    assert done.returncode == 2
    assert done.stderr == (
        "eviflow: 20 of 20 candidates are undecided (20 wait for a reviewer, 0 for eve); "
        "go on with `eviflow data review`\n"
    )
    let_people_decide(paths, names=("ben",))
    done = eviflow(paths, "stage", "panel")
    assert done.returncode == 0, done.stderr
    assert "panel: decided by people" in done.stderr
    assert "reviewed by people" in eviflow(paths, "data", "card").stdout


def test_a_reviewer_who_is_neither_is_answered_with_the_choices(paths: Paths) -> None:
    paths.params.write_text("panel: {reviewers: robots}\n")
    done = eviflow(paths, "stage", "panel")
    assert done.returncode == 2
    assert "panel.reviewers" in done.stderr
    assert "'scripted' or 'people'" in done.stderr


def test_without_a_release_there_is_no_card(paths: Paths) -> None:
    paths.params.touch()
    done = eviflow(paths, "data", "card")
    assert (done.returncode, done.stdout) == (1, "")
    assert "run `eviflow stage panel`" in done.stderr
    assert not paths.data_card.exists()
