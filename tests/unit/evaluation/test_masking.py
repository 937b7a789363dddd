from evaluation_doubles import OFFICIAL, good_episode, make_episode, observe, seen_in

from components.evaluation.masking import masked
from components.records.episode import Episode, FailureClass, Observation, StepKind

FAILED = observe("visit", "nothing found", url=OFFICIAL, failure=FailureClass.EMPTY_RESULT)


def also(extra: list[Observation], **options: int) -> Episode:
    """A good episode of the date case with more observations after the others."""
    return make_episode([*seen_in("date"), *extra], good_episode("date").report, **options)  # type: ignore[arg-type]


def test_faults_and_counts_of_nothing_are_masked_and_stay() -> None:
    episode = also([FAILED, observe("count_objects", "balloon: 0")], corrections=1)
    hidden = [step for step in masked(episode).steps if step.masked]
    assert [step.kind for step in hidden] == [StepKind.ACTION, StepKind.ACTION, StepKind.CORRECTION]
    assert hidden[0].observation is not None
    assert hidden[0].observation.text == "nothing found"


def test_a_count_of_ten_is_no_zero() -> None:
    assert not any(step.masked for step in masked(also([observe("count_objects", "lantern: 10")])).steps)


def test_a_page_that_was_opened_in_vain_is_masked() -> None:
    elsewhere = observe("visit", "another edition", url="https://harvest-gala.example/2030")
    [hidden] = [step for step in masked(also([elsewhere])).steps if step.masked]
    assert hidden.observation is not None
    assert hidden.observation.source_url == "https://harvest-gala.example/2030"
