"""Looking at one case, and getting its picture as a file."""

from pathlib import Path

import pytest
from test_cli import eviflow
from test_data_transfer import photos

from components.records.case import Case
from components.storage.atomic import read_jsonl


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    folder = photos(tmp_path)
    eviflow("--root", str(tmp_path), "data", "import", str(folder), "--mapping", str(tmp_path / "fields.yaml"),
            "--into", "mine")  # fmt: skip
    return tmp_path / "data/imported/mine"


def test_a_case_is_shown_and_its_picture_written(imported: Path, tmp_path: Path) -> None:
    case = read_jsonl(imported / "test.jsonl", Case)[0]
    arguments = ("--root", str(tmp_path), "data", "show", case.case_id, "--folder", str(imported))
    picture = tmp_path / "case.png"
    shown = eviflow(*arguments)
    assert shown.returncode == 0, shown.stderr
    done = eviflow(*arguments, "--picture", str(picture))
    size = picture.stat().st_size
    assert shown.stdout.splitlines() == [
        f"case     {case.case_id}, test",
        f"picture  {case.image_path}, 40 x 40 pixels, {size} bytes",
    ]
    assert done.stdout == f"{shown.stdout}written  {picture}\n"
    again = eviflow(*arguments, "--picture", str(picture))
    assert (again.returncode, again.stderr) == (2, f"eviflow: {picture} is there already; name a file that is not\n")


def test_an_unknown_case_is_answered_with_where_the_ids_are(imported: Path, tmp_path: Path) -> None:
    for folder in ((), ("--folder", str(imported))):
        done = eviflow("--root", str(tmp_path), "data", "show", "nope", *folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert "has no case nope; its ids are in train.jsonl and test.jsonl there" in done.stderr
