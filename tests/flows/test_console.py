import pytest

from flows.console import say


def test_what_is_told_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Errors of workers are told as well, whatever brackets they hold."""
    say("a shard was not finished: [Errno 2] list[int] [/data] [red]")
    assert "a shard was not finished: [Errno 2] list[int] [/data] [red]" in capsys.readouterr().out
