import pytest

from components.commands.training_progress import TrainingProgress


def test_metrics_pass_through_and_the_end_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []
    progress = TrainingProgress(3, lambda step, metrics: seen.append(step))
    for step in (1, 2, 3):
        progress(step, {"train/loss": 0.5, "train/tokens_per_second": 12000.0})
    assert seen == [1, 2, 3]
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("sft: step 3/3, loss 0.500, 12,000 tokens/s")


def test_a_resumed_training_says_from_where(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TrainingProgress(9, lambda step, metrics: None)
    progress(5, {"train/loss": 0.5})
    assert "goes on after step 4" in capsys.readouterr().err
