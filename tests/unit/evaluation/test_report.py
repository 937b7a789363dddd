import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from evaluation_doubles import good_episode, make_episode, make_gold, observe, picture, seen_in, with_picture

from components.config.schema import EvaluationParams
from components.config.tools import PriceParams
from components.evaluation.report import write_report
from components.evaluation.rules_judge import judge
from components.evaluation.summary import MetricsFile, compare, summarise
from components.records.case import Verdict
from components.records.episode import Episode, FailureClass, Report
from components.records.image_bank import ImageBank
from components.records.usage import Charge, Meter, Spent, Usage
from components.rollout.costs import cost_table

PARAMS = EvaluationParams(bootstrap_samples=100)
GOLD = {
    "c1": make_gold(None, "c1"),
    "c2": make_gold("date", "c2", style="poster"),
    "c3": make_gold("count", "c3"),
    "c4": make_gold("host", "c4"),
    "c5": make_gold("venue", "c5"),
}
TITLES = {"untrained_agent": "Untrained agent", "sft": "SFT agent"}


def episodes(bank: ImageBank) -> list[Episode]:
    hostile = "<script>alert('x')</script> & {{ 7 * 7 }}"
    failed = observe("visit", hostile, url="https://x.example/", failure=FailureClass.INFRASTRUCTURE)
    shown = seen_in("count")
    shown[4] = shown[4].model_copy(update={"images": (picture(bank, (9, 9, 200)),)})
    found = [
        good_episode(None, "c1"),
        good_episode("date", "c2", corrections=1),
        make_episode(
            [*shown, failed], Report(verdict=Verdict.SUPPORTED, explanation=hostile, cited=("o1",)), case_id="c3"
        ),
        make_episode(seen_in("host"), None, case_id="c4"),
    ]
    return [with_picture(episode, picture(bank, (number, 80, 120))) for number, episode in enumerate(found)]


@pytest.fixture
def report(tmp_path: Path) -> str:
    bank = ImageBank(tmp_path)
    ours = episodes(bank)
    by_case = {episode.case.case_id: episode for episode in ours}
    judgments = [judge(by_case.get(name), gold) for name, gold in GOLD.items()]
    nothing = [judge(None, gold) for gold in GOLD.values()]
    numbers = MetricsFile(
        judge="rules",
        cases=5,
        suite_sha256="0" * 64,
        confidence=0.95,
        systems={
            "untrained_agent": summarise([], nothing, GOLD, PARAMS),
            "sft": summarise(ours, judgments, GOLD, PARAMS),
        },
        differences={"sft-untrained_agent": compare(judgments, nothing, PARAMS)},
        baselines={"majority": summarise([], nothing, GOLD, PARAMS).metrics},
    )
    spent = Usage(meter=Meter.SERPER_CREDITS, calls=2, units=7)
    charge = Charge(episode_id=ours[0].episode_id, tool="visit", usage=spent, billed=True)
    costs = {
        "untrained_agent": cost_table([], Spent(), PriceParams()),
        "sft": cost_table(ours, Spent(requests=2, charges=(charge,)), PriceParams()),
    }
    path = write_report(tmp_path / "report.html", numbers, TITLES, "sft", ours, judgments, GOLD, bank, costs)
    return path.read_text("utf-8")


def test_it_is_one_file_that_needs_nothing_else(report: str) -> None:
    assert "<script" not in report
    assert "<link" not in report
    assert not re.search(r"""(src|href)=["'](?!data:)""", report)
    assert "url(" not in report


def test_its_tags_are_balanced(report: str) -> None:
    class Balance(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open_tags: list[str] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in ("meta", "img", "br"):
                self.open_tags.append(tag)

        def handle_startendtag(self, tag: str, attrs: object) -> None:
            pass

        def handle_endtag(self, tag: str) -> None:
            assert self.open_tags.pop() == tag

    parser = Balance()
    parser.feed(report)
    assert parser.open_tags == []


def test_what_pages_say_is_shown_and_not_obeyed(report: str) -> None:
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; {{ 7 * 7 }}" in report


def test_the_numbers_stand_in_the_table(report: str) -> None:
    assert "SFT agent" in report
    assert "Baseline: majority" in report
    assert "temporal displacement" in report
    assert "SFT agent minus untrained agent" in report


def test_wrong_cases_stand_first_and_every_case_is_there(report: str) -> None:
    order = re.findall(r'<article class="panel card (\w+)">', report)
    assert order == ["missing", "invalid", "wrong", "strong", "strong"]
    assert all(f"({case_id})" in report for case_id in GOLD)
    assert "no picture" in report


def test_steps_show_thought_call_and_observation(report: str) -> None:
    assert "look 4" in report
    assert "visit(url=https://harvest-gala.example/2031)" in report
    assert "o4  Harvest Gala was held on 14 March 2031" in report
    assert report.count("picture returned by the tool") == 1


def test_what_it_cost_stands_by_tool_by_system_and_by_case(report: str) -> None:
    rows = {
        re.sub("<.*?>", "", cells[0]): [re.sub("<.*?>", "", cell) for cell in cells[1:]]
        for cells in (re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr.*?</tr>", report, re.DOTALL))
        if len(cells) == 9
    }
    assert rows["visit"][:3] == ["5", "1", "0"]
    assert rows["visit"][-2:] == ["0.00000", "0.00700"]
    assert rows["SFT agent, 4 episodes"][0] == "21"
    assert rows["Untrained agent, 0 episodes"][0] == "0"
    assert "list prices of 2025-06-30" in report
    assert "5 calls, 0 requests, 0.0 s, 0 / 0 tokens, list 0.00000 USD, spent 0.00700 USD" in report
