import pytest

from components.commands.training_progress import shown
from components.progress import Progress


def test_metrics_pass_through_and_the_end_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []
    with Progress("sft", 3, "steps") as progress:
        on_step = shown(progress, lambda step, metrics: seen.append(step))
        for step in (1, 2, 3):
            on_step(step, {"train/loss": 0.5, "train/tokens_per_second": 12000.0})
    assert seen == [1, 2, 3]
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("sft: 3/3 steps in ")
    assert line.endswith("loss 0.500, 12,000 tokens/s")


def test_a_resumed_training_says_from_where(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("sft", 9, "steps") as progress:
        shown(progress, lambda step, metrics: None)(5, {"train/loss": 0.5})
    assert "sft: 4 of 9 steps were finished before" in capsys.readouterr().err
