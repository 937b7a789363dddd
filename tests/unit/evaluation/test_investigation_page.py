from pathlib import Path

import pytest
from evaluation_doubles import good_episode, make_episode, observe, picture, seen_in, with_picture

from components.evaluation.investigation_page import write_investigation
from components.records.case import Verdict
from components.records.episode import Episode, FailureClass, Report
from components.records.image_bank import ImageBank

HOSTILE = "<script>alert('x')</script> & {{ 7 * 7 }}"


def page_of(episode: Episode, tmp_path: Path) -> str:
    bank = ImageBank(tmp_path)
    shown = with_picture(episode, picture(bank, (40, 80, 120)))
    return write_investigation(tmp_path / "page.html", shown, bank).read_text("utf-8")


def test_the_page_shows_picture_verdict_and_every_turn(tmp_path: Path) -> None:
    episode = good_episode("date", "c2", corrections=1)
    page = page_of(episode, tmp_path)
    assert page.startswith("<!doctype html>")
    assert "data:image/jpeg;base64," in page
    assert '<span class="badge refuted">refuted</span>' in page
    assert page.count("<li") == len(episode.steps)
    assert episode.report is not None
    for name in episode.report.cited:
        assert f'href="#{name}"' in page
        assert f'id="{name}"' in page


@pytest.mark.parametrize(
    ("url", "linked"), [("https://x.example/a?b=1", True), ("javascript:alert(1)", False), ("data:text/html,x", False)]
)
def test_opened_pages_are_linked_and_nothing_else(tmp_path: Path, url: str, linked: bool) -> None:
    opened = observe("visit", "a page", url=url)
    page = page_of(make_episode([*seen_in("count"), opened], None), tmp_path)
    assert (f'href="{url}"' in page) is linked
    assert "javascript:" not in page.replace(f"visit(url={url})", "")


def test_what_pages_and_policies_write_is_text(tmp_path: Path) -> None:
    failed = observe("visit", HOSTILE, url="https://x.example/", failure=FailureClass.INFRASTRUCTURE)
    report = Report(verdict=Verdict.SUPPORTED, explanation=HOSTILE, cited=("o1",))
    page = page_of(make_episode([*seen_in("count"), failed], report), tmp_path)
    assert "<script" not in page
    assert "{{ 7 * 7 }}" in page
    assert 'class="failed"' in page


def test_an_investigation_without_a_report_says_how_it_ended(tmp_path: Path) -> None:
    page = page_of(make_episode(seen_in("host"), None), tmp_path)
    assert '<span class="badge none">no verdict</span>' in page
    assert "<dt>Ended</dt>" in page
