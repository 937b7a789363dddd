import pytest

from components.commands.session import Session, guarded
from components.errors import EviflowError, PreflightError, UsageError


def raiser(error: BaseException) -> object:
    raise error


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (EviflowError("it broke; mend it"), 1, "eviflow: it broke; mend it\n"),
        (UsageError("wrong key"), 2, "eviflow: wrong key\n"),
        (PreflightError("held"), 3, "eviflow: held\n"),
        (ValueError("bad\nvery bad"), 1, "eviflow: unexpected ValueError: bad (--debug shows where)\n"),
        (KeyboardInterrupt(), 130, "eviflow: interrupted; run the same command again to go on\n"),
    ],
    ids=["failed", "usage", "preflight", "unexpected", "interrupted"],
)
def test_an_error_is_one_sentence_and_an_exit_code(
    error: BaseException, code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(Session(), lambda: raiser(error)) == code
    assert capsys.readouterr().err == sentence


def test_success_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(Session(), lambda: None) == 0
    assert capsys.readouterr() == ("", "")
