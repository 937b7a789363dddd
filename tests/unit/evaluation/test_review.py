import json
from pathlib import Path

import pytest
from evaluation_doubles import OFFICIAL, good_episode, make_episode, make_gold, observe, seen_in

from components.config.paths import Paths
from components.config.schema import Params, ReviewParams
from components.errors import EviflowError
from components.evaluation.review import masked, rejection, review_episodes, select
from components.records.case import Gold, Verdict
from components.records.episode import Episode, FailureClass, Observation, Report, StepKind, Termination
from components.records.shards import read_episodes, write_episodes
from components.storage.atomic import write_jsonl
from components.tools import messages

FAILED = observe("visit", "nothing found", url=OFFICIAL, failure=FailureClass.EMPTY_RESULT)


def also(extra: list[Observation], **options: int) -> Episode:
    """A good episode of the date case with more observations after the others."""
    report = good_episode("date").report
    return make_episode([*seen_in("date"), *extra], report, **options)  # type: ignore[arg-type]


def test_a_good_episode_is_admitted() -> None:
    assert rejection(good_episode("date"), make_gold("date")) is None


@pytest.mark.parametrize(
    ("episode", "reason"),
    [
        (make_episode(seen_in("date"), None), "unfinished"),
        (good_episode("date").model_copy(update={"termination": Termination.BUDGET}), "unfinished"),
        (good_episode(None), "wrong_verdict"),
        (also([observe("visit", "blocked", failure=FailureClass.POLICY)]), "policy_violation"),
        (also([FAILED] * 4), "degraded_conduct"),
        (also([FAILED] * 2, corrections=2), "degraded_conduct"),
        (
            make_episode(seen_in("date"), Report(verdict=Verdict.REFUTED, explanation="x", cited=("o1",))),
            "judge:not_stated",
        ),
    ],
)
def test_the_first_gate_that_is_not_passed_is_named(episode: Episode, reason: str) -> None:
    assert rejection(episode, make_gold("date")) == reason


@pytest.mark.parametrize("sentence", [messages.BLOCKED_URL, messages.BLOCKED_QUERY])
def test_asking_for_a_forbidden_source_is_a_violation_even_when_refused(sentence: str) -> None:
    episode = also([], corrections=1)
    steps = [
        step.model_copy(update={"feedback": sentence}) if step.kind is StepKind.CORRECTION else step
        for step in episode.steps
    ]
    assert rejection(episode.model_copy(update={"steps": tuple(steps)}), make_gold("date")) == "policy_violation"


def test_a_case_without_gold_is_counted() -> None:
    assert rejection(good_episode(), None) == "no_gold"


def test_a_few_faults_are_masked_not_rejected() -> None:
    episode = also([FAILED, observe("count_objects", "balloon: 0")], corrections=1)
    assert rejection(episode, make_gold("date")) is None
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


def test_the_cleanest_then_the_shortest_are_kept() -> None:
    first = also([FAILED], seed=1)
    longer = also([observe("current_time", "noon")], seed=2)
    best = good_episode("date", seed=3)
    kept, rejected = select([first, longer, best], {"c1": make_gold("date")}, per_case=2)
    assert [episode.seed for episode in kept] == [3, 2]
    assert rejected == {"surplus": 1}


def prepare(root: Path, episodes: list[Episode], gold: list[Gold]) -> tuple[Params, Paths]:
    paths = Paths(root)
    write_episodes(paths.episodes / "episodes.parquet", episodes)
    write_jsonl(paths.gold / "train.jsonl", gold)
    return Params(review=ReviewParams(per_case=1)), paths


def test_the_stage_writes_the_admitted_and_the_funnel(tmp_path: Path) -> None:
    gold = [make_gold("date", "c1"), make_gold(None, "c2"), make_gold("count", "c3")]
    episodes = [
        good_episode("date", "c1", seed=1),
        good_episode("date", "c1", seed=2),
        good_episode(None, "c2", seed=1),
        good_episode(None, "c3", seed=1),
    ]
    params, paths = prepare(tmp_path, episodes, gold)
    summary = review_episodes(params, paths)
    assert [item.episode_id for item in read_episodes(paths.reviewed / "episodes.parquet")] == [
        "c1--scripted--s1",
        "c2--scripted--s1",
    ]
    assert summary.total == summary.admitted + sum(summary.rejected.values()) == 4
    assert summary.rejected == {"surplus": 1, "wrong_verdict": 1}
    assert summary.by_error_type["numerical_alteration"].cases_covered == 0
    assert summary.by_error_type["temporal_displacement"].episodes == 2
    assert json.loads((paths.metrics / "review.json").read_text()) == summary.model_dump(mode="json")


def test_nothing_admitted_is_a_failure_that_says_where_to_look(tmp_path: Path) -> None:
    params, paths = prepare(tmp_path, [make_episode([], None)], [make_gold()])
    with pytest.raises(EviflowError, match=r"review\.json counts the reasons"):
        review_episodes(params, paths)
    assert not paths.reviewed.exists()


def test_missing_inputs_are_named(tmp_path: Path) -> None:
    with pytest.raises(EviflowError, match="eviflow stage episodes"):
        review_episodes(Params(), Paths(tmp_path))
    write_episodes(Paths(tmp_path).episodes / "episodes.parquet", [])
    with pytest.raises(EviflowError, match="eviflow stage panel"):
        review_episodes(Params(), Paths(tmp_path))
