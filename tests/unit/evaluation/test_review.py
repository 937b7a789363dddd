import json
from pathlib import Path

import pytest
from evaluation_doubles import good_episode, make_case, make_episode, make_gold

from components.config.paths import Paths
from components.config.schema import Params, ReviewParams
from components.errors import EviflowError
from components.evaluation.review import every_episode, read_decisions, read_funnel, review_episodes
from components.records.case import Gold
from components.records.episode import Episode
from components.records.shards import read_episodes, write_episode_shards, write_episodes
from components.storage.atomic import write_jsonl


def prepare(root: Path, episodes: list[Episode], gold: list[Gold]) -> tuple[Params, Paths]:
    paths = Paths(root)
    write_episodes(paths.episodes / "episodes.parquet", episodes)
    write_jsonl(paths.benchmark / "train.jsonl", [make_case(item.case_id) for item in gold])
    write_jsonl(paths.gold / "train.jsonl", gold)
    return Params(review=ReviewParams(per_case=1)), paths


GOLD = [make_gold("date", "c1"), make_gold(None, "c2"), make_gold("count", "c3")]
EPISODES = [
    good_episode("date", "c1", seed=1),
    good_episode("date", "c1", seed=2),
    good_episode(None, "c2", seed=1),
    good_episode(None, "c3", seed=1),
]


def test_the_stage_writes_the_admitted_the_decisions_and_the_funnel(tmp_path: Path) -> None:
    params, paths = prepare(tmp_path, EPISODES, GOLD)
    summary = review_episodes(params, paths)
    assert [item.episode_id for item in read_episodes(paths.reviewed / "episodes.parquet")] == [
        "c1--scripted--s1",
        "c2--scripted--s1",
    ]
    decisions = read_decisions(paths.reviewed)
    assert [item.outcome for item in decisions] == ["kept", "surplus", "kept", "verdict:wrong_verdict"]
    total = summary.funnel.total
    assert (total.targets, total.collected, total.admitted, total.kept, total.covered) == (3, 4, 3, 2, 2)
    assert total.rejected == {"verdict:wrong_verdict": 1}
    assert summary.by_error_type["numerical_alteration"].cases_covered == 0
    assert summary.by_error_type["temporal_displacement"].episodes == 2
    assert summary.by_error_type["temporal_displacement"].admitted == 1
    report = paths.metrics / "review.json"
    assert json.loads(report.read_text()) == summary.model_dump(mode="json")
    assert read_funnel(report) == summary.funnel


@pytest.mark.incident("CS-2")
def test_a_failed_episode_costs_itself_and_no_other(tmp_path: Path) -> None:
    failed = make_episode([], None, case_id="c3", seed=1)
    params, paths = prepare(tmp_path, [*EPISODES[:3], failed], GOLD)
    summary = review_episodes(params, paths)
    assert summary.kept == 2
    [lost] = [item for item in read_decisions(paths.reviewed) if not item.admitted]
    assert (lost.episode_id, lost.engineering) == ("c3--scripted--s1", True)


def test_private_records_stay_closed_until_every_case_was_investigated(tmp_path: Path) -> None:
    params, paths = prepare(tmp_path, EPISODES[:3], GOLD)
    (paths.gold / "train.jsonl").unlink()
    with pytest.raises(EviflowError, match="1 of 3 cases of attempt-01 have no episode, first c3"):
        review_episodes(params, paths)
    write_episodes(paths.episodes / "episodes.parquet", EPISODES)
    with pytest.raises(EviflowError, match=r"train\.jsonl is not there; run `eviflow stage panel`"):
        review_episodes(params, paths)


def test_nothing_admitted_is_a_failure_that_says_where_to_look(tmp_path: Path) -> None:
    params, paths = prepare(tmp_path, [make_episode([], None)], [make_gold()])
    with pytest.raises(EviflowError, match=r"review\.json counts the reasons"):
        review_episodes(params, paths)
    assert not paths.reviewed.exists()


def test_missing_inputs_are_named(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    with pytest.raises(EviflowError, match="eviflow stage episodes"):
        review_episodes(Params(), paths)
    write_episodes(paths.episodes / "episodes.parquet", [])
    with pytest.raises(EviflowError, match="eviflow stage panel"):
        review_episodes(Params(), paths)
    with pytest.raises(EviflowError, match="eviflow stage review"):
        read_decisions(paths.reviewed)
    with pytest.raises(EviflowError, match="eviflow stage reroll"):
        read_funnel(paths.metrics / "reroll.json")


def test_later_phases_are_seen_as_well(tmp_path: Path) -> None:
    _, paths = prepare(tmp_path, EPISODES[:1], GOLD)
    for attempt in (3, 2):
        folder = paths.rerolled / f"attempt-{attempt:02d}"
        folder.mkdir(parents=True)
        write_episode_shards(folder, [good_episode("date", "c1", seed=attempt)])
    assert [episode.seed for episode in every_episode(paths)] == [1, 2, 3]
