import pytest
from evaluation_doubles import (
    ALL_CITED,
    DIFFERENT,
    OFFICIAL,
    PHOTO,
    SAME,
    explain,
    good_episode,
    make_episode,
    make_gold,
    observe,
    seen_in,
)

from components.evaluation.assessment import Assessment
from components.evaluation.citations import citations
from components.evaluation.judged import judged
from components.evaluation.masking import masked
from components.evaluation.rules_assessor import assess
from components.evaluation.rules_judge import judge
from components.records.case import Verdict
from components.records.episode import Episode, FailureClass, Observation, Report, StepKind, ToolCall

FAILED = observe("visit", "nothing found", url=OFFICIAL, failure=FailureClass.EMPTY_RESULT)
OUTAGE = observe("visit", "the page reader is out of service", failure=FailureClass.INFRASTRUCTURE)


def reporting(
    altered: str | None,
    explanation: str | None = None,
    cited: tuple[str, ...] = ALL_CITED,
    observations: list[Observation] | None = None,
    verdict: Verdict | None = None,
) -> Episode:
    """A good episode with something changed."""
    right = Verdict.REFUTED if altered else Verdict.SUPPORTED
    said = explain(altered) if explanation is None else explanation
    report = Report(verdict=verdict or right, explanation=said, cited=cited)
    return make_episode(observations or seen_in(altered), report)


def assessed(altered: str | None, *args: object, **options: object) -> Assessment:
    return assess(reporting(altered, *args, **options), make_gold(altered))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("altered", "decisive", "supporting"),
    [
        (None, ("o1", "o2", "o4", "o5"), ()),
        ("date", ("o1", "o4"), ("o2", "o5")),
        ("count", ("o2", "o4"), ("o1", "o5")),
        ("host", ("o4", "o5"), ("o1", "o2")),
    ],
)
def test_what_settles_the_verdict_is_told_from_what_only_bears_on_it(
    altered: str | None, decisive: tuple[str, ...], supporting: tuple[str, ...]
) -> None:
    found = assessed(altered)
    assert (found.decisive_observation_ids, found.supporting_observation_ids) == (decisive, supporting)
    assert (found.producer, found.target_scope, found.overclaiming) == ("rules", "direct_target", "none")
    assert (found.retrieval_quality, found.trajectory_conduct) == ("effective", "clean")
    assert found.decision_support == ("supports_refuted" if altered else "supports_supported")


def test_a_photo_is_told_by_a_page_and_a_comparison_together() -> None:
    from components.records.case import Attribute, Check

    photo = Check(attribute=Attribute.PHOTO, depicted="2029", documented="2031")
    gold = make_gold("date").model_copy(update={"checks": (photo,)})
    older = observe("visit", f"Harvest Gala 2029\npicture: {PHOTO}", url="https://harvest-gala.example/2029")
    same = observe("compare_with_reference", "same scene", url=PHOTO)
    page = observe("visit", "Harvest Gala 2031", url=OFFICIAL)
    episode = reporting("date", "photo 2029 vs 2031 differs", ("o1", "o2", "o3"), [older, same, page])
    assert assess(episode, gold).decisive_observation_ids == ("o1", "o2", "o3")


@pytest.mark.parametrize(
    ("altered", "explanation", "scope"),
    [
        ("date", DIFFERENT["date"], "decisive_subfact"),
        ("date", SAME["venue"], "related_but_incomplete"),
        (None, SAME["venue"], "related_but_incomplete"),
        ("date", "the date is wrong", "unrelated_fact"),
        ("date", "motto be kind vs be brave differs", "unrelated_fact"),
    ],
)
def test_the_scope_follows_from_what_is_stated(altered: str | None, explanation: str, scope: str) -> None:
    assert assessed(altered, explanation).target_scope == scope


@pytest.mark.parametrize(
    ("altered", "explanation", "overclaiming"),
    [
        ("date", f"{DIFFERENT['date']}; count 9 vs 9 differs", "major"),
        ("date", f"{DIFFERENT['date']}; count 8 vs 9 differs", "major"),
        ("date", "date 12 March 2031 vs 15 March 2031 differs", "major"),
        ("host", SAME["host"], "major"),
        ("date", f"{DIFFERENT['date']}; {DIFFERENT['host']}", "major"),
    ],
)
def test_what_contradicts_the_record_is_a_major_overclaim(altered: str, explanation: str, overclaiming: str) -> None:
    assert assessed(altered, explanation).overclaiming == overclaiming


def test_a_side_remark_without_evidence_is_a_minor_one() -> None:
    assert assessed("date", f"{DIFFERENT['date']}; {SAME['count']}", ("o1", "o4")).overclaiming == "minor"
    assert assessed("date", DIFFERENT["date"], ("o1", "o4")).overclaiming == "none"


@pytest.mark.parametrize(
    ("cited", "support"), [(("o1", "o2"), "supporting_only"), (("o2", "o5"), "insufficient"), (("o1", "o4"), None)]
)
def test_the_support_follows_from_what_is_cited(cited: tuple[str, ...], support: str | None) -> None:
    assert assessed("date", cited=cited).decision_support == (support or "supports_refuted")


def test_the_support_is_that_of_the_evidence_whatever_the_verdict() -> None:
    found = assessed("date", verdict=Verdict.SUPPORTED)
    assert found.decision_support == "supports_refuted"


def test_without_checks_nothing_is_clear() -> None:
    imported = make_gold("date").model_copy(update={"checks": ()})
    found = assess(good_episode("date"), imported)
    assert (found.target_scope, found.decision_support) == ("unclear", "unclear")
    assert found.decisive_observation_ids == ()


def test_retrieval_is_poor_without_a_cited_page_and_mixed_after_one_in_vain() -> None:
    assert assessed("date", cited=("o1", "o2")).retrieval_quality == "poor"
    elsewhere = observe("visit", "another edition", url="https://harvest-gala.example/2030")
    assert assessed("date", observations=[*seen_in("date"), elsewhere]).retrieval_quality == "mixed"
    assert assessed("date", observations=[*seen_in("date"), FAILED]).retrieval_quality == "mixed"


def repeated(times: int) -> Episode:
    """A good episode in which the same call was refused so often."""
    episode = good_episode("date", corrections=times)
    call = ToolCall(name="visit", arguments_json="{}")
    steps = [
        step.model_copy(update={"call": call}) if step.kind is StepKind.CORRECTION else step for step in episode.steps
    ]
    return episode.model_copy(update={"steps": tuple(steps)})


@pytest.mark.parametrize(
    ("episode", "conduct"),
    [
        (good_episode("date"), "clean"),
        (good_episode("date", corrections=3), "recovered_minor"),
        (good_episode("date", corrections=4), "degraded_repetition"),
        (reporting("date", observations=[*seen_in("date"), FAILED, FAILED, FAILED]), "recovered_minor"),
        (reporting("date", observations=[*seen_in("date"), *[FAILED] * 4]), "degraded_repetition"),
        (repeated(2), "recovered_minor"),
        (repeated(3), "degraded_repetition"),
        (reporting("date", observations=[*seen_in("date"), OUTAGE]), "unresolved"),
    ],
)
def test_the_conduct_follows_from_faults(episode: Episode, conduct: str) -> None:
    assert assess(episode, make_gold("date")).trajectory_conduct == conduct


def test_an_episode_without_a_report_is_nothing_to_assess() -> None:
    with pytest.raises(ValueError, match="no report"):
        assess(make_episode([], None), make_gold())


EXPLANATIONS = [
    explain("date"),
    explain(None),
    explain("host"),
    *DIFFERENT.values(),
    *SAME.values(),
    "the date is wrong",
    "date 12 March 2031 vs 12 March 2031 same",
    "date 12 March 2031 vs 15 March 2031 differs",
    f"{DIFFERENT['date']}; count 8 vs 8 same",
    f"{DIFFERENT['date']}; count 9 vs 9 differs",
    f"{DIFFERENT['date']}; {SAME['date']}",
    "; ".join([SAME["date"], SAME["venue"], SAME["host"]]),
]
CITATIONS = [ALL_CITED, (), ("o1", "o2", "o5"), ("o2", "o4", "o5"), ("o1", "o4"), (*ALL_CITED, "o3"), ("o4", "o9")]


@pytest.mark.parametrize("altered", [None, "date", "venue", "host", "count"])
@pytest.mark.parametrize("cited", CITATIONS)
def test_gates_and_judge_agree_on_what_is_strong(altered: str | None, cited: tuple[str, ...]) -> None:
    gold = make_gold(altered)
    for explanation in EXPLANATIONS:
        episode = reporting(altered, explanation, cited)
        fatal = [*citations(masked(episode)), *judged(assess(episode, gold), episode, gold)]
        passes = not any(item.fatal for item in fatal)
        assert passes is judge(episode, gold).strong, explanation
