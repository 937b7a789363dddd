from pathlib import Path

import pytest
from review_samples import ADA, PANEL

from components.config.paths import Paths
from components.errors import UsageError
from components.review.decisions import Queue
from components.review.panel import Gate, Panel, load_panel, make_panel, save_panel


@pytest.mark.parametrize(
    ("reviewers", "adjudicator", "said"),
    [
        ("ada", "eve", "names 1 people"),
        ("ada,ben,cyd", "eve", "names 3 people"),
        ("ada,ada", "eve", "not three people"),
        ("ada,ben", "ada", "not three people"),
        ("ada,../ben", "eve", "'../ben' is no reviewer's name"),
        ("ada,scripted-one", "eve", "no name begins with outcomes or scripted"),
        ("Ada,ben", "eve", "'Ada' is no reviewer's name"),
    ],
)
def test_a_panel_is_three_different_people(reviewers: str, adjudicator: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make_panel(reviewers, adjudicator)


def test_a_panel_is_remembered(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    assert load_panel(paths, Queue.CASES) is None
    save_panel(paths, Queue.CASES, make_panel(" ada , ben", "eve"))
    assert load_panel(paths, Queue.CASES) == PANEL
    assert load_panel(paths, Queue.EPISODES) is None


def test_tokens_outlive_a_restart_and_are_never_written(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    tokens = Gate(path, PANEL).issue()
    again = Gate(path, PANEL)
    assert set(tokens) == {"ada", "ben", "eve"}
    assert again.issue() == {}
    assert again.admit("ada", tokens["ada"]) == ADA
    assert not any(token in path.read_text() for token in tokens.values())


def test_another_token_admits_nobody(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "tokens.json", PANEL)
    tokens = gate.issue()
    for name, token in [("ada", tokens["ben"]), ("ada", ""), ("ada", "ü"), ("", tokens["ada"]), ("zoe", "")]:
        assert gate.admit(name, token) is None


def test_renewed_tokens_end_the_old_ones(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    old = Gate(path, PANEL).issue()
    gate = Gate(path, PANEL)
    new = gate.issue(renew=True)
    assert gate.admit("ada", old["ada"]) is None
    assert gate.admit("ada", new["ada"]) == ADA


def test_who_left_the_panel_is_not_admitted(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    old = Gate(path, PANEL).issue()
    gate = Gate(path, Panel(reviewers=("ada", "cyd"), adjudicator="eve"))
    assert set(gate.issue()) == {"cyd"}
    assert gate.admit("ben", old["ben"]) is None
    assert gate.admit("ada", old["ada"]) == ADA
