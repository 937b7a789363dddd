from typing import Any

import pytest
from evaluation_doubles import OFFICIAL, good_episode, make_episode, make_gold, observe, seen_in
from pydantic import ValidationError

from components.evaluation.assessment import Assessment, DecisionSupport, read_assessment
from components.evaluation.judged import judged
from components.records.episode import FailureClass, Report

FIELDS: dict[str, Any] = {
    "producer": "a model",
    "target_scope": "decisive_subfact",
    "decision_support": "supports_refuted",
    "retrieval_quality": "effective",
    "decisive_observation_ids": ["o1", "o4"],
    "supporting_observation_ids": ["o2"],
    "overclaiming": "none",
    "trajectory_conduct": "clean",
    "explanation": "The page gives another date.",
}


def codes(**changed: object) -> list[tuple[str, bool]]:
    """What follows for an episode that is right otherwise."""
    found = Assessment.model_validate(FIELDS | changed)
    return [(item.code, item.fatal) for item in judged(found, good_episode("date"), make_gold("date"))]


def test_an_assessment_is_read_back_as_it_was() -> None:
    made = read_assessment(FIELDS, good_episode("date"))
    assert Assessment.model_validate_json(made.model_dump_json()) == made


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"decisive_observation_ids": ["o1", "o17"]}, "no observation o17"),
        ({"supporting_observation_ids": ["x"]}, "no observation x"),
        ({"supporting_observation_ids": ["o1"]}, "named twice"),
        ({"decisive_observation_ids": [f"o{n}" for n in range(41)]}, "at most 40"),
        ({"target_scope": "sideways"}, "target_scope"),
        ({"decision_support": "supports_real"}, "decision_support"),
        ({"confidence": 0.9}, "confidence"),
        ({"explanation": "x" * 1601}, "1600"),
    ],
)
def test_what_no_judge_may_say_is_refused(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        read_assessment(FIELDS | changed, good_episode("date"))


@pytest.mark.parametrize("missing", FIELDS)
def test_every_field_is_needed(missing: str) -> None:
    with pytest.raises(ValidationError, match=missing):
        read_assessment({name: value for name, value in FIELDS.items() if name != missing}, good_episode("date"))


def test_a_good_assessment_has_no_consequences() -> None:
    assert codes() == []
    assert codes(target_scope="direct_target", trajectory_conduct="recovered_minor") == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"decisive_observation_ids": ["o1", "o17"]}, "unknown_observation"),
        ({"target_scope": "unrelated_fact"}, "unrelated_fact"),
        ({"target_scope": "related_but_incomplete"}, "related_but_incomplete"),
        ({"overclaiming": "major"}, "major_overclaiming"),
        ({"retrieval_quality": "poor"}, "poor_retrieval"),
        ({"decision_support": "supports_supported"}, "not_supported"),
        ({"decision_support": "supporting_only"}, "not_supported"),
        ({"decision_support": "insufficient"}, "not_supported"),
        ({"decision_support": "unclear"}, "not_supported"),
        ({"decisive_observation_ids": []}, "no_decisive_observation"),
        ({"trajectory_conduct": "degraded_repetition"}, "degraded_repetition"),
        ({"trajectory_conduct": "unresolved"}, "unresolved"),
    ],
)
def test_what_keeps_an_episode_out(changed: dict[str, object], code: str) -> None:
    assert (code, True) in codes(**changed)
    assert [item for item in codes(**changed) if item[1]] == [(code, True)]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"retrieval_quality": "mixed"}, "mixed_retrieval"),
        ({"overclaiming": "minor"}, "minor_overclaiming"),
        ({"decisive_observation_ids": ["o3", "o1"]}, "decisive_not_cited"),
    ],
)
def test_what_is_only_noted(changed: dict[str, object], code: str) -> None:
    assert codes(**changed) == [(code, False)]


def test_an_unclear_scope_is_noted_and_meets_no_target() -> None:
    assert codes(target_scope="unclear") == [("scope_not_met", True), ("unclear_scope", False)]


def test_a_judge_that_rests_on_a_failure_is_not_believed() -> None:
    failed = observe("visit", "no answer", url=OFFICIAL, failure=FailureClass.INFRASTRUCTURE)
    episode = make_episode([*seen_in("date"), failed], good_episode("date").report)
    found = read_assessment(FIELDS | {"supporting_observation_ids": ["o6"]}, episode)
    assert [item.code for item in judged(found, episode, make_gold("date"))] == ["failed_observation"]


def test_searches_that_found_nothing_refute_nothing() -> None:
    nothing = observe("text_search", "nothing found", failure=FailureClass.EMPTY_RESULT)
    report = Report(verdict="refuted", explanation="x", cited=("o1",))  # type: ignore[arg-type]
    episode = make_episode([seen_in("date")[0], nothing, nothing], report)
    found = read_assessment(FIELDS | {"decisive_observation_ids": ["o1"], "supporting_observation_ids": []}, episode)
    assert [item.code for item in judged(found, episode, make_gold("date"))] == ["only_empty_searches"]
    supported = found.model_copy(update={"decision_support": DecisionSupport.SUPPORTS_SUPPORTED})
    assert list(judged(supported, episode, make_gold(None))) == []
