from evaluation_doubles import good_episode, make_episode, make_gold, seen_in

from components.config.schema import EvaluationParams
from components.evaluation.rules_judge import judge
from components.evaluation.summary import compare, error_type, summarise
from components.records.case import Verdict
from components.records.episode import Report

PARAMS = EvaluationParams(bootstrap_samples=200)
GOLD = {
    "c1": make_gold(None, "c1"),
    "c2": make_gold("date", "c2", style="poster"),
    "c3": make_gold("count", "c3"),
    "c4": make_gold("count", "c4"),
}
EPISODES = [
    good_episode(None, "c1"),
    good_episode("date", "c2"),
    make_episode(seen_in("count"), Report(verdict=Verdict.REFUTED, explanation="x", cited=("o1",)), case_id="c3"),
]
JUDGMENTS = [judge({item.case.case_id: item for item in EPISODES}.get(name), gold) for name, gold in GOLD.items()]


def test_every_case_counts_whether_it_has_an_episode_or_not() -> None:
    summary = summarise(EPISODES, JUDGMENTS, GOLD, PARAMS)
    assert summary.metrics["n"] == 4
    assert summary.metrics["missing"] == 1
    assert summary.metrics["sesr"] == 0.5
    assert summary.metrics["recall_refuted"] == 2 / 3
    assert summary.metrics["actions_mean"] == 5
    assert summary.reasons == {"grounded": 2, "no_episode": 1, "not_stated": 1}
    assert summary.terminations == {"finished": 3}
    low, high = summary.intervals["sesr"]
    assert 0 <= low <= 0.5 <= high <= 1


def test_the_breakdown_covers_every_case_once() -> None:
    breakdown = summarise(EPISODES, JUDGMENTS, GOLD, PARAMS).breakdown
    for groups in breakdown.values():
        assert sum(group.n for group in groups.values()) == 4
    assert set(breakdown["error_type"]) == {"supported", "temporal_displacement", "numerical_alteration"}
    assert breakdown["error_type"]["numerical_alteration"].accuracy == 0.5
    assert breakdown["error_type"]["numerical_alteration"].sesr == 0
    assert breakdown["style"]["poster"].n == 1


def test_a_system_differs_from_itself_by_nothing() -> None:
    difference = compare(JUDGMENTS, JUDGMENTS, PARAMS)
    assert set(difference.metrics.values()) == {0.0}
    assert set(difference.intervals.values()) == {(0.0, 0.0)}


def test_a_refuted_case_without_a_named_error_is_not_counted_as_supported() -> None:
    assert error_type(make_gold("count").model_copy(update={"error_type": None})) == "refuted"
    assert error_type(make_gold(None)) == "supported"
