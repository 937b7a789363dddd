import pytest
from evaluation_doubles import (
    ALL_CITED,
    DIFFERENT,
    OFFICIAL,
    PAGE,
    PHOTO,
    SAME,
    explain,
    good_episode,
    make_episode,
    make_gold,
    observe,
    seen_in,
)

from components.evaluation.judgment import Judgment, Quality, Reason
from components.evaluation.rules_judge import judge
from components.records.case import Verdict
from components.records.episode import FailureClass, Observation, Report

ATTRIBUTES = ["date", "venue", "host", "count"]


def judged(
    altered: str | None,
    *,
    observations: list[Observation] | None = None,
    explanation: str | None = None,
    cited: tuple[str, ...] = ALL_CITED,
    verdict: Verdict | None = None,
) -> Judgment:
    """Judge a good episode with something changed."""
    right = Verdict.REFUTED if altered else Verdict.SUPPORTED
    report = Report(verdict=verdict or right, explanation=explanation or explain(altered), cited=cited)
    return judge(make_episode(observations or seen_in(altered), report), make_gold(altered))


@pytest.mark.parametrize("altered", [None, *ATTRIBUTES])
def test_right_and_grounded_is_strong(altered: str | None) -> None:
    result = judge(good_episode(altered), make_gold(altered))
    assert (result.quality_bucket, result.reason) == (Quality.STRONG, Reason.GROUNDED)
    assert result.correct
    assert result.strong


@pytest.mark.parametrize("altered", ATTRIBUTES)
def test_the_decisive_clause_alone_is_enough_to_refute(altered: str) -> None:
    assert judged(altered, explanation=DIFFERENT[altered]).strong


@pytest.mark.parametrize("altered", [None, *ATTRIBUTES])
def test_a_wrong_verdict_is_rejected(altered: str | None) -> None:
    other = Verdict.SUPPORTED if altered else Verdict.REFUTED
    result = judged(altered, verdict=other)
    assert (result.quality_bucket, result.reason) == (Quality.REJECTED, Reason.WRONG_VERDICT)
    assert not result.correct


@pytest.mark.parametrize("altered", [None, *ATTRIBUTES])
def test_without_checks_grounds_are_usable_at_most(altered: str | None) -> None:
    imported = make_gold(altered).model_copy(update={"checks": (), "acceptable_evidence": (), "official_urls": ()})
    result = judge(good_episode(altered), imported)
    assert (result.quality_bucket, result.reason) == (Quality.USABLE, Reason.NO_CHECKS)
    assert result.correct
    assert not result.strong


def test_without_checks_a_wrong_verdict_and_a_contradiction_are_rejected_still() -> None:
    imported = make_gold(None).model_copy(update={"checks": ()})
    refuted = Report(verdict=Verdict.REFUTED, explanation=explain(None), cited=ALL_CITED)
    assert judge(make_episode(seen_in(None), refuted), imported).reason is Reason.WRONG_VERDICT
    twice = Report(verdict=Verdict.SUPPORTED, explanation="count 9 vs 9 differs", cited=ALL_CITED)
    assert judge(make_episode(seen_in(None), twice), imported).reason is Reason.CONTRADICTORY
    uncited = Report(verdict=Verdict.SUPPORTED, explanation=explain(None), cited=())
    assert judge(make_episode(seen_in(None), uncited), imported).reason is Reason.NOTHING_CITED


def test_nothing_to_judge() -> None:
    assert judge(make_episode([], None), make_gold()).reason is Reason.NO_REPORT
    missing = judge(None, make_gold())
    assert (missing.reason, missing.quality_bucket) == (Reason.NO_EPISODE, Quality.NOT_AUDITABLE)


def test_an_episode_of_another_case_is_a_bug() -> None:
    with pytest.raises(ValueError, match="not about case"):
        judge(good_episode(case_id="c2"), make_gold())


@pytest.mark.parametrize(
    ("cited", "reason"),
    [
        ((), Reason.NOTHING_CITED),
        ((*ALL_CITED, "o9"), Reason.UNKNOWN_CITATION),
        ((*ALL_CITED, "o6"), Reason.FAILED_CITATION),
        ((*ALL_CITED, "o3"), Reason.CITED_A_LEAD),
    ],
)
def test_every_citation_must_be_evidence(cited: tuple[str, ...], reason: Reason) -> None:
    failed = observe("visit", "the page did not answer", url=OFFICIAL, failure=FailureClass.INFRASTRUCTURE)
    assert judged("date", observations=[*seen_in("date"), failed], cited=cited).reason is reason


@pytest.mark.parametrize(
    ("altered", "explanation", "reason"),
    [
        ("date", "the date is wrong", Reason.NOT_STATED),
        ("date", SAME["venue"], Reason.NOT_STATED),
        (None, "; ".join([SAME["date"], SAME["venue"], SAME["host"]]), Reason.NOT_STATED),
        ("date", "date 12 March 2031 vs 12 March 2031 same", Reason.MISSTATED),
        ("date", "date 12 March 2031 vs 15 March 2031 differs", Reason.MISSTATED),
        ("date", "date 11 March 2031 vs 14 March 2031 differs", Reason.MISSTATED),
        ("host", "host Tom Reed different person", Reason.MISSTATED),
        ("host", "host Mara Venn same person", Reason.MISSTATED),
        ("date", f"{DIFFERENT['date']}; count 8 vs 8 same", Reason.MISSTATED),
        ("date", f"{DIFFERENT['date']}; host Mara Venn different person", Reason.FALSE_DIFFERENCE),
        ("date", f"{DIFFERENT['date']}; count 8 vs 9 differs", Reason.FALSE_DIFFERENCE),
        ("date", f"{DIFFERENT['date']}; count 9 vs 9 differs", Reason.CONTRADICTORY),
        ("date", f"{DIFFERENT['date']}; {SAME['date']}", Reason.CONTRADICTORY),
    ],
)
def test_what_the_explanation_says_is_checked(altered: str | None, explanation: str, reason: Reason) -> None:
    assert judged(altered, explanation=explanation).reason is reason


@pytest.mark.parametrize("altered", [None, *ATTRIBUTES])
def test_without_the_page_nothing_is_documented(altered: str | None) -> None:
    result = judged(altered, cited=("o1", "o2", "o5"))
    assert (result.quality_bucket, result.reason) == (Quality.USABLE, Reason.NOT_DOCUMENTED)


@pytest.mark.parametrize(("altered", "visual"), [("date", "o1"), ("venue", "o1"), ("count", "o2"), ("host", "o5")])
def test_without_the_visual_observation_nothing_is_seen(altered: str, visual: str) -> None:
    assert judged(altered, cited=tuple(item for item in ALL_CITED if item != visual)).reason is Reason.NOT_SEEN
    assert judged(None, cited=tuple(item for item in ALL_CITED if item != visual)).reason is Reason.NOT_SEEN


def replaced(altered: str | None, number: int, item: Observation) -> list[Observation]:
    observations = seen_in(altered)
    observations[number - 1] = item
    return observations


@pytest.mark.parametrize(
    ("altered", "number", "item", "reason"),
    [
        ("date", 1, observe("ocr_with_position", "22 March 2031"), Reason.NOT_SEEN),
        ("count", 2, observe("count_objects", "balloon: 7"), Reason.NOT_SEEN),
        ("count", 2, observe("count_objects", "lantern: 17"), Reason.NOT_SEEN),
        ("host", 5, observe("compare_with_reference", "same person", url=PHOTO), Reason.NOT_SEEN),
        ("host", 5, observe("compare_with_reference", "not comparable", url=PHOTO), Reason.NOT_SEEN),
        (
            "host",
            5,
            observe("compare_with_reference", "different person", url="https://x.example/a.png"),
            Reason.NOT_SEEN,
        ),
        ("date", 4, observe("visit", PAGE, url="https://elsewhere.example/2031"), Reason.NOT_DOCUMENTED),
        ("date", 4, observe("visit", "Harvest Gala, 4 March 2031", url=OFFICIAL), Reason.NOT_DOCUMENTED),
        ("count", 4, observe("visit", "There were 19 lanterns and 9 flags.", url=OFFICIAL), Reason.NOT_DOCUMENTED),
    ],
)
def test_observations_must_really_say_it(altered: str, number: int, item: Observation, reason: Reason) -> None:
    assert judged(altered, observations=replaced(altered, number, item)).reason is reason


def test_a_crop_may_show_the_print() -> None:
    item = observe("crop_and_inspect", "Rowan Hall\n12 March 2031")
    assert judged("date", observations=replaced("date", 1, item)).strong


def test_a_trailing_slash_is_the_same_page() -> None:
    item = observe("visit", PAGE, url=OFFICIAL.upper().replace("/2031", "/2031/"))
    assert judged("date", observations=replaced("date", 4, item)).strong


def test_a_portrait_found_under_the_persons_name_serves_for_the_comparison() -> None:
    portrait = "https://people.example/mara.png"
    page = observe("visit", PAGE.split("\n")[0], url=OFFICIAL)
    compared = observe("compare_with_reference", "different person", url=portrait)
    for caption, strong in [("Mara Venn, portrait", True), ("Tom Reed, portrait", False)]:
        found = observe("text_image_search", f"Tom Reed at work\nhttps://x.example/t.png\n{caption}\n{portrait}")
        observations = [*seen_in("host")[:2], found, page, compared]
        assert judged("host", observations=observations).strong is strong
