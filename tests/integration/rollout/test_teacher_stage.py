import json
import shutil
from collections import Counter

import pytest

from components.config.paths import Paths
from components.config.schema import EpisodeParams, Params
from components.errors import EviflowError
from components.evaluation.review import review_episodes
from components.policies.replay import ReplayPolicy
from components.records.episode import Termination
from components.records.image_bank import ImageBank
from components.records.shards import read_episodes
from components.rollout.engine import Job
from components.rollout.run import roll_out
from components.rollout.teacher import CODE, INPUTS, SECTIONS, collect_teacher

pytestmark = pytest.mark.slow


def test_the_teacher_works_without_the_private_files_and_its_episodes_are_whole(params: Params, paths: Paths) -> None:
    gold = paths.root / "kept"
    shutil.move(paths.facts.parent, gold)
    summary = collect_teacher(params, paths)
    shutil.move(gold, paths.facts.parent)

    episodes = read_episodes(paths.episodes / "episodes.parquet")
    per_case = Counter(episode.case.case_id for episode in episodes)
    assert set(per_case.values()) == {params.episodes.rollouts_per_case}
    assert summary.episodes == len(episodes) == summary.cases * params.episodes.rollouts_per_case
    assert summary.actions == sum(episode.actions_used for episode in episodes)
    assert {episode.termination for episode in episodes} == {Termination.FINISHED}

    bank = ImageBank(paths.episodes, also=[paths.benchmark, paths.web])
    shown = {digest for episode in episodes for item in episode.observations for digest in item.images}
    assert shown
    assert all(digest in bank for digest in shown)
    assert not (paths.work / "rollouts/episodes").exists(), "unfinished work is gone when its outputs are in place"

    review = review_episodes(params, paths)
    assert review.total == summary.episodes
    assert review.admitted >= summary.cases * 0.8
    assert json.loads((paths.metrics / "review.json").read_text())["admitted"] == review.admitted


def test_a_replay_with_the_same_tools_observes_the_same(params: Params, paths: Paths) -> None:
    fewer = params.model_copy(update={"episodes": EpisodeParams(rollouts_per_case=1)})
    collect_teacher(fewer, paths)
    episodes = read_episodes(paths.episodes / "episodes.parquet")
    again = roll_out(
        params,
        paths,
        [Job(episode.case, episode.seed) for episode in episodes],
        ReplayPolicy(episodes, name="scripted"),
        bank=ImageBank(paths.work / "bank", also=[paths.benchmark, paths.web]),
        folder=paths.work / "replay",
        concurrency=4,
        title="replay",
    )
    assert [[item.text for item in episode.observations] for episode in again] == [
        [item.text for item in episode.observations] for episode in episodes
    ]
    assert [episode.report for episode in again] == [episode.report for episode in episodes]


def test_a_missing_benchmark_is_named(params: Params, paths: Paths) -> None:
    shutil.rmtree(paths.benchmark)
    with pytest.raises(EviflowError, match="eviflow stage benchmark"):
        collect_teacher(params, paths)


def test_unfinished_work_is_named_by_what_the_stage_depends_on() -> None:
    from components.commands.stages import find_stage

    spec = find_stage("episodes")
    assert set(SECTIONS) <= set(spec.sections)
    assert set(INPUTS) == set(spec.inputs)
    assert all(any(path.startswith(folder) for path in CODE) for folder in spec.code)
