import pytest
from evaluation_doubles import ALL_CITED, OFFICIAL, explain, good_episode, make_episode, make_gold, observe, seen_in

from components.evaluation.admission import Decision, Standards, counted, decide, select
from components.evaluation.assessment import Assessment
from components.evaluation.rules_assessor import assess
from components.records.case import Gold, Verdict
from components.records.episode import Episode, FailureClass, Report, Termination
from components.tools.source_policy import SourcePolicy

FAILED = observe("visit", "nothing found", url=OFFICIAL, failure=FailureClass.EMPTY_RESULT)
BLOCKED = observe("visit", "the page leads to a blocked site", failure=FailureClass.POLICY)


def standards(*gold: Gold, per_case: int = 1) -> Standards:
    return Standards({item.case_id: item for item in gold or (make_gold("date"),)}, SourcePolicy(), per_case)


def also(*extra: object, **options: object) -> Episode:
    """A good episode of the date case with more observations after the others."""
    return make_episode([*seen_in("date"), *extra], good_episode("date").report, **options)  # type: ignore


def reporting(**changed: object) -> Episode:
    report = good_episode("date").report
    assert report is not None
    return make_episode(seen_in("date"), report.model_copy(update=changed))


BROKEN = good_episode("date").model_copy(update={"steps": good_episode("date").steps[1:]})


@pytest.mark.parametrize(
    ("episode", "outcome", "engineering"),
    [
        (good_episode("date"), "kept", False),
        (also(FAILED), "kept", False),
        (make_episode(seen_in("date"), None), "terminal:termination_not_success", True),
        (
            make_episode([], None).model_copy(update={"termination": Termination.POLICY_ERROR}),
            "terminal:provider_failure",
            True,
        ),
        (
            good_episode("date").model_copy(update={"termination": Termination.BUDGET}),
            "terminal:termination_not_success",
            False,
        ),
        (BROKEN, "structure:trace_corrupt", True),
        (also(BLOCKED), "audit:source_access", False),
        (also(FAILED.model_copy(update={"failure": FailureClass.MODEL})), "audit:engineering", True),
        (reporting(cited=("o1", "o3", "o4")), "citations:invalid_evidence", False),
        (reporting(verdict=Verdict.SUPPORTED), "verdict:wrong_verdict", False),
        (reporting(explanation="x"), "judge:unrelated_fact", False),
        (also(FAILED, FAILED, FAILED, FAILED), "judge:degraded_repetition", False),
    ],
)
def test_the_first_gate_that_is_not_passed_is_the_outcome(episode: Episode, outcome: str, engineering: bool) -> None:
    decision = decide(episode, standards())
    assert (decision.outcome, decision.engineering) == (outcome, engineering)
    assert decision.admitted is (outcome == "kept")


def test_what_would_be_masked_may_not_be_cited() -> None:
    report = Report(verdict=Verdict.REFUTED, explanation=explain("date"), cited=(*ALL_CITED, "o6"))
    episode = make_episode([*seen_in("date"), observe("count_objects", "kite: 0")], report)
    [finding] = decide(episode, standards()).fatal
    assert (finding.reason, finding.step) == ("citations:invalid_evidence", 5)


def test_a_case_without_a_private_record_is_named() -> None:
    assert decide(good_episode("date", case_id="c9"), standards()).outcome == "gold:no_gold"


@pytest.mark.incident("PS-12")
def test_a_judge_that_is_content_does_not_save_a_wrong_verdict() -> None:
    def content(episode: Episode, gold: Gold) -> Assessment:
        return assess(good_episode("date"), gold)

    wrong = reporting(verdict=Verdict.SUPPORTED)
    decision = decide(wrong, standards()._replace(assess=content))
    assert decision.assessment == assess(good_episode("date"), make_gold("date"))
    assert [item.reason for item in decision.fatal] == ["verdict:wrong_verdict"]


def test_everything_that_is_found_stays_with_the_decision() -> None:
    report = Report(verdict=Verdict.SUPPORTED, explanation="x", cited=("o1",))
    decision = decide(make_episode([*seen_in("date"), BLOCKED], report, corrections=1), standards())
    assert decision.outcome == "audit:source_access"
    assert [item.reason for item in decision.fatal] == [
        "audit:source_access",
        "verdict:wrong_verdict",
        "judge:unrelated_fact",
        "judge:poor_retrieval",
        "judge:not_supported",
    ]
    assert [item.reason for item in decision.warnings] == ["audit:unrecovered_failure", "audit:protocol_correction"]
    assert decision.assessment is not None


@pytest.mark.incident("CS-1")
@pytest.mark.parametrize("episode", [good_episode("date"), BROKEN, also(BLOCKED), make_episode([], None)])
def test_a_decision_is_read_back_as_it_was_written(episode: Episode) -> None:
    decision = decide(episode, standards(), 2)
    assert Decision.model_validate_json(decision.model_dump_json()) == decision
    assert decision.attempt == 2


def test_a_broken_record_is_not_looked_into() -> None:
    decision = decide(BROKEN.model_copy(update={"termination": Termination.BUDGET}), standards())
    assert decision.assessment is None
    assert {item.gate.value for item in decision.fatal} == {"terminal", "structure"}


def test_the_cleanest_then_the_shortest_are_kept_and_the_others_stay_in_the_record() -> None:
    first = also(FAILED, seed=1)
    longer = also(observe("current_time", "noon"), seed=2)
    best = good_episode("date", seed=3)
    selection = select([first, longer, best], standards(per_case=2))
    assert [episode.seed for episode in selection.kept] == [2, 3]
    assert [item.outcome for item in selection.decisions] == ["surplus", "kept", "kept"]


def test_what_is_kept_is_masked() -> None:
    [kept] = select([also(FAILED)], standards()).kept
    assert [step.index for step in kept.steps if step.masked] == [5]


@pytest.mark.incident("CX-7")
def test_a_phase_is_counted_over_the_cases_it_was_to_investigate() -> None:
    names = [f"c{number}" for number in range(44)]
    episodes = [good_episode("date", case_id=name) for name in names[:6]]
    gold = [make_gold("date", name) for name in [f"c{number}" for number in range(100)]]
    decisions = select(episodes, standards(*gold)).decisions
    counts = counted(decisions, names)
    assert (counts.targets, counts.collected, counts.covered) == (44, 6, 6)
    with pytest.raises(ValueError, match="c5 is none of the 5 cases"):
        counted(decisions, names[:5])


def test_the_counts_of_a_phase_add_up() -> None:
    gold = [make_gold("date", name) for name in ("c1", "c2")]
    episodes = [
        good_episode("date", "c1", seed=1),
        good_episode("date", "c1", seed=2),
        good_episode(None, "c2", seed=1),
        make_episode([], None, case_id="c2", seed=2),
    ]
    counts = counted(select(episodes, standards(*gold)).decisions, ["c1", "c2"])
    assert (counts.collected, counts.admitted, counts.surplus, counts.kept, counts.covered) == (4, 2, 1, 1, 1)
    assert counts.rejected == {"terminal:termination_not_success": 1, "verdict:wrong_verdict": 1}
