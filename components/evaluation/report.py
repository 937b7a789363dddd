"""The report: one HTML file that needs nothing else, no script and no network.

It shows the numbers of every system beside the baselines, where they come from, and every case of the trained policy
with what it saw, thought and did; the cases that went wrong stand first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from components.evaluation.judgment import Judgment
from components.evaluation.metrics import Result
from components.evaluation.summary import MetricsFile, error_type, outcomes_of
from components.evaluation.templating import template_environment, thumbnail
from components.records.case import Gold
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.rollout.costs import CostTable
from components.rollout.step_view import StepView, view_step
from components.storage.atomic import write_text

CASE_SIDE, SHOWN_SIDE = 320, 140
"""Longest sides of thumbnails, pixels: of a case's picture, and of one that a tool returned."""
HEADLINES = (("balanced_accuracy", "Balanced accuracy"), ("macro_f1", "Macro F1"), ("sesr", "SESR"))


@dataclass(frozen=True)
class CaseView:
    """One case as the report shows it."""

    judgment: Judgment
    result: Result
    kind: str
    """Error type, or `supported`."""
    gold: Gold
    picture: str
    """Data URI, empty when the picture is missing."""
    termination: str
    explanation: str
    cited: tuple[str, ...]
    steps: tuple[StepView, ...]


@dataclass(frozen=True)
class Bar:
    """One bar of a chart; lengths in 0..1."""

    label: str
    value: float
    low: float
    high: float
    accent: bool


def write_report(
    path: Path,
    numbers: MetricsFile,
    titles: Mapping[str, str],
    shown: str,
    episodes: Sequence[Episode],
    judgments: Sequence[Judgment],
    gold: Mapping[str, Gold],
    bank: ImageBank,
    costs: Mapping[str, CostTable],
) -> Path:
    """Write the report.

    Args:
        path: where to.
        numbers: what was measured.
        titles: each system's title by its name, in the order of the table.
        shown: name of the system whose cases are shown.
        episodes: that system's episodes.
        judgments: one for each case of the suite.
        gold: the private records by case id.
        bank: where all pictures are found.
        costs: what each system's episodes cost, by its name.

    """
    html = (
        _environment()
        .get_template("report.html.jinja")
        .render(
            numbers=numbers,
            titles=titles,
            shown=shown,
            headlines=HEADLINES,
            charts=[(title, _bars(numbers, titles, shown, key)) for key, title in HEADLINES],
            cases=_cases(episodes, judgments, gold, bank),
            costs=costs,
            types=list(next(iter(numbers.systems.values())).breakdown["error_type"]),
            styles=list(next(iter(numbers.systems.values())).breakdown["style"]),
            reasons=sorted({reason for system in numbers.systems.values() for reason in system.reasons}),
        )
    )
    return write_text(path, html)


def _environment() -> jinja2.Environment:
    environment = template_environment("components.evaluation")
    environment.filters["percent"] = lambda share: f"{100 * share:.1f}"
    environment.filters["usd"] = lambda money: f"{money:.5f}"
    environment.filters["many"] = lambda number: f"{number:,}"
    environment.filters["signed"] = lambda share: f"{100 * share:+.1f}"
    return environment


def _bars(numbers: MetricsFile, titles: Mapping[str, str], shown: str, key: str) -> list[Bar]:
    return [
        Bar(title, numbers.systems[name].metrics[key], *numbers.systems[name].intervals[key], accent=name == shown)
        for name, title in titles.items()
    ]


def _cases(
    episodes: Sequence[Episode], judgments: Sequence[Judgment], gold: Mapping[str, Gold], bank: ImageBank
) -> list[CaseView]:
    by_case = {episode.case.case_id: episode for episode in episodes}
    scored = zip(judgments, outcomes_of(judgments), strict=True)
    # Result counts upwards from missing to strong, so what went wrong stands first.
    ordered = sorted(scored, key=lambda pair: (pair[1].result, pair[0].case_id))
    return [
        _case(judgment, item.result, gold[judgment.case_id], by_case.get(judgment.case_id), bank)
        for judgment, item in ordered
    ]


def _case(judgment: Judgment, result: Result, gold: Gold, episode: Episode | None, bank: ImageBank) -> CaseView:
    report = episode.report if episode else None
    steps = episode.steps if episode else ()
    return CaseView(
        judgment=judgment,
        result=result,
        kind=error_type(gold),
        gold=gold,
        picture=thumbnail(episode.case.image_sha256, bank, CASE_SIDE) if episode else "",
        termination=episode.termination.value if episode else "no episode",
        explanation=report.explanation if report else "",
        cited=report.cited if report else (),
        steps=tuple(view_step(step, lambda digest: thumbnail(digest, bank, SHOWN_SIDE)) for step in steps),
    )
