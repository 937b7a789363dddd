from collections.abc import Callable

import pytest
from evaluation_doubles import good_episode, make_episode, seen_in

from components.evaluation.structure import structure, terminal
from components.records.episode import Episode, Report, Step, StepKind, Termination, ToolCall, Turn


def found(episode: Episode) -> list[tuple[str, int | None]]:
    return [(item.reason, item.step) for item in (*terminal(episode), *structure(episode))]


def changed(at: int, **fields: object) -> Episode:
    """A good episode with one turn changed; turns 0 to 4 are actions, then finish and report."""
    steps = list(good_episode("date").steps)
    steps[at] = steps[at].model_copy(update=fields)
    return good_episode("date").model_copy(update={"steps": tuple(steps)})


def renamed(at: int, **fields: object) -> Episode:
    """The same with the observation of a turn changed."""
    observation = good_episode("date").steps[at].observation
    assert observation is not None
    return changed(at, observation=observation.model_copy(update=fields))


def without(*kinds: StepKind) -> Episode:
    kept = [step for step in good_episode("date").steps if step.kind not in kinds]
    steps = tuple(step.model_copy(update={"index": index}) for index, step in enumerate(kept))
    return good_episode("date").model_copy(update={"steps": steps})


def followed_by(kind: StepKind) -> Episode:
    episode = good_episode("date")
    more = Step(index=len(episode.steps), kind=kind, turn=Turn(text="more"))
    return episode.model_copy(update={"steps": (*episode.steps, more)})


def acted_after_the_end() -> Episode:
    steps = list(good_episode("date").steps)
    steps[4], steps[5] = (steps[5].model_copy(update={"index": 4}), steps[4].model_copy(update={"index": 5}))
    return good_episode("date").model_copy(update={"steps": tuple(steps)})


@pytest.mark.parametrize("altered", [None, "date", "host"])
def test_a_whole_episode_passes(altered: str | None) -> None:
    assert found(good_episode(altered)) == []
    assert found(good_episode(altered, corrections=2)) == []


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        ({"termination": Termination.POLICY_ERROR}, "terminal:provider_failure"),
        ({"termination": Termination.BUDGET}, "terminal:termination_not_success"),
        ({"termination": Termination.PROTOCOL_FAILURE}, "terminal:termination_not_success"),
        ({"report": None, "steps": ()}, "terminal:termination_not_success"),
    ],
)
def test_an_investigation_that_did_not_end_by_itself_is_named(ending: dict[str, object], reason: str) -> None:
    assert found(good_episode("date").model_copy(update=ending)) == [(reason, None)]


CALL = ToolCall(name="visit", arguments_json="{}")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: changed(2, index=7), ("structure:trace_corrupt", 2)),
        (lambda: renamed(1, observation_id="o9"), ("structure:trace_corrupt", 1)),
        (lambda: renamed(4, observation_id="o1"), ("structure:trace_corrupt", 4)),
        (lambda: changed(1, call=CALL), ("structure:trace_corrupt", 1)),
        (lambda: changed(1, call=None), ("structure:trace_corrupt", 1)),
        (
            lambda: good_episode("date").model_copy(update={"exposed_tools": good_episode().exposed_tools[1:]}),
            None,
        ),
        (
            lambda: good_episode("date").model_copy(
                update={"exposed_tools": tuple(n for n in good_episode().exposed_tools if n != "text_search")}
            ),
            ("structure:trace_corrupt", 2),
        ),
        (lambda: good_episode("date").model_copy(update={"action_budget": 5}), None),
        (lambda: good_episode("date").model_copy(update={"action_budget": 4}), ("structure:trace_corrupt", None)),
        (lambda: without(StepKind.REPORT), ("structure:trace_corrupt", None)),
        (lambda: without(StepKind.FINISH), ("structure:trace_corrupt", 5)),
        (acted_after_the_end, ("structure:trace_corrupt", 6)),
        (lambda: followed_by(StepKind.CORRECTION), ("structure:post_verdict", 7)),
        (lambda: followed_by(StepKind.REPORT), ("structure:post_verdict", 7)),
        (lambda: changed(0, call=ToolCall(name="ocr_with_position", arguments_json="[]")), ("structure:malformed", 0)),
        (lambda: changed(0, call=ToolCall(name="ocr_with_position", arguments_json="{")), ("structure:malformed", 0)),
        (lambda: renamed(3, payload_json='"text"'), ("structure:malformed", 3)),
    ],
)
def test_what_contradicts_itself_is_found_and_placed(
    make: Callable[[], Episode], expected: tuple[str, int | None] | None
) -> None:
    assert found(make()) == ([expected] if expected else [])


def test_an_action_without_a_result_and_a_result_without_an_action_are_found() -> None:
    [(reason, step), *_] = found(changed(4, observation=None))
    assert (reason, step) == ("structure:trace_corrupt", 4)
    seen = good_episode("date").steps[4].observation
    assert seen is not None
    given = seen.model_copy(update={"observation_id": "o6"})
    assert found(changed(5, observation=given)) == [("structure:trace_corrupt", 5)]


def test_a_turn_that_reports_without_a_report_is_found() -> None:
    reported = good_episode("date").model_copy(update={"report": None, "termination": Termination.PROTOCOL_FAILURE})
    assert ("structure:trace_corrupt", None) in found(reported)


def test_a_report_without_an_investigation_has_no_end_to_follow_upon() -> None:
    report = Report(verdict="refuted", explanation="x", cited=())  # type: ignore[arg-type]
    made = make_episode([], report)
    direct = made.model_copy(update={"exposed_tools": (), "steps": (made.steps[1].model_copy(update={"index": 0}),)})
    assert found(direct) == []
    assert found(make_episode(seen_in(), report)) == []
