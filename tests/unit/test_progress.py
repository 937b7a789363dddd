import json
from pathlib import Path

import pytest

from components import progress as module
from components.progress import Progress, track


class Clock:
    """Time that passes when it is told to, s."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_a_log_gets_a_line_now_and_then_and_one_at_the_end(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    with Progress("drawing", 10, "pictures") as progress:
        for done in range(1, 11):
            clock.now += 10.0
            progress.reach(done)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "drawing: 2/10 pictures, 20 s gone, 80 s left, 0.1 pictures/s"
    assert lines[-1] == "drawing: 10/10 pictures in 100 s, 0.1 pictures/s"
    assert len(lines) == 6


def test_what_was_finished_before_does_not_count_for_the_rate(capsys: pytest.CaptureFixture[str], clock: Clock) -> None:
    with Progress("drawing", 10, "pictures") as progress:
        progress.resume(8)
        clock.now += 2.0
        progress.reach(10)
    assert capsys.readouterr().err.splitlines() == [
        "drawing: 8 of 10 pictures were finished before",
        "drawing: 10/10 pictures in 2 s, 1.0 pictures/s",
    ]


def test_a_failure_is_not_reported_as_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError), Progress("drawing", 10, "pictures"):
        raise ZeroDivisionError
    assert capsys.readouterr().err == ""


def test_tracking_yields_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(track(iter("abc"), "writing", 3, "pages")) == ["a", "b", "c"]
    assert capsys.readouterr().err.startswith("writing: 3/3 pages in ")


def test_whoever_started_the_process_can_read_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, file = Clock(monkeypatch), tmp_path / "work/world.json"
    monkeypatch.setenv(module.MIRROR, str(file))
    with Progress("drawing", 10, "pictures") as progress:
        assert not file.exists()
        clock.now += 2.0
        progress.reach(4)
        told = json.loads(file.read_text("utf-8"))
        clock.now += 0.5
        progress.reach(5, "2 refused")
        assert json.loads(file.read_text("utf-8")) == told
    assert told == {"done": 4, "total": 10, "text": "drawing: 4/10 pictures, 3 s left, 2.0 pictures/s"}
    assert json.loads(file.read_text("utf-8"))["text"].endswith("2.0 pictures/s, 2 refused")
    assert [path.name for path in file.parent.iterdir()] == ["world.json"]
