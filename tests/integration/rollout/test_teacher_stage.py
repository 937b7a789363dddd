import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from components.config.paths import Paths
from components.config.schema import BudgetParams, EpisodeParams, Params
from components.errors import BudgetReached, EviflowError
from components.evaluation.review import review_episodes
from components.policies.replay import ReplayPolicy
from components.records.episode import Episode, Termination
from components.records.image_bank import ImageBank
from components.records.shards import read_episodes
from components.rollout.engine import Job
from components.rollout.run import roll_out
from components.rollout.spending import SPENT
from components.rollout.store import RolloutStore
from components.rollout.teacher import CODE, INPUTS, SECTIONS, collect_teacher
from components.tracking.costs import teacher_costs

pytestmark = pytest.mark.slow


def test_the_teacher_works_without_the_private_files_and_its_episodes_are_whole(params: Params, paths: Paths) -> None:
    gold = paths.root / "kept"
    shutil.move(paths.facts.parent, gold)
    summary = collect_teacher(params, paths)
    shutil.move(gold, paths.facts.parent)

    episodes = read_episodes(paths.episodes)
    per_case = Counter(episode.case.case_id for episode in episodes)
    assert set(per_case.values()) == {params.episodes.rollouts_per_case}
    assert summary.episodes == len(episodes) == summary.cases * params.episodes.rollouts_per_case
    assert summary.actions == sum(episode.actions_used for episode in episodes)
    assert {episode.termination for episode in episodes} == {Termination.FINISHED}

    bank = ImageBank(paths.episodes, also=[paths.benchmark, paths.web])
    shown = {digest for episode in episodes for item in episode.observations for digest in item.images}
    assert shown
    assert all(digest in bank for digest in shown)
    loose = {path.name for path in paths.episodes.rglob("*") if path.is_file() and path.suffix != ".parquet"}
    assert loose == {SPENT}, "pictures lie in shards"
    costs = teacher_costs(paths, params.prices)
    assert costs.sent == costs.total.requests == summary.requests > summary.episodes
    assert costs.total.list_usd == pytest.approx(summary.list_usd, abs=1e-6)
    assert 0 < costs.total.list_usd < 1
    assert costs.total.spent_usd == summary.spent_usd == 0, "the closed world wants no money"
    assert set(costs.episodes) == {episode.episode_id for episode in episodes}
    assert not (paths.work / "rollouts/episodes").exists(), "unfinished work is gone when its outputs are in place"

    review = review_episodes(params, paths)
    assert review.collected == summary.episodes
    assert review.admitted >= summary.cases * 0.8
    assert json.loads((paths.metrics / "review.json").read_text())["admitted"] == review.admitted


def test_a_replay_with_the_same_tools_observes_the_same(params: Params, paths: Paths) -> None:
    fewer = params.model_copy(update={"episodes": EpisodeParams(rollouts_per_case=1)})
    collect_teacher(fewer, paths)
    episodes = read_episodes(paths.episodes)
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


CHILD = """
import sys
from pathlib import Path
from components.config.paths import Paths
from components.config.schema import Params
from components.rollout.store import RolloutStore
from components.rollout.teacher import collect_teacher
collect_teacher(Params.model_validate_json(sys.argv[2]), Paths(Path(sys.argv[1])))
"""


def test_a_killed_stage_goes_on_and_gives_the_same(params: Params, paths: Paths) -> None:
    settings = params.model_copy(update={"episodes": EpisodeParams(concurrency=2)})
    command = [sys.executable, "-c", CHILD, str(paths.root), settings.model_dump_json()]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    child = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(finished(paths)) < 4 and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL, "the stage ended before it was killed"
    assert not paths.episodes.exists(), "unfinished episodes are never in place"
    before = finished(paths)

    collect_teacher(settings, paths)
    after = {episode.episode_id: episode for episode in read_episodes(paths.episodes)}
    assert before
    assert {name: after[name] for name in before} == before, "what was finished was not run again"

    shutil.rmtree(paths.episodes)
    collect_teacher(settings, paths)
    whole = read_episodes(paths.episodes)
    assert [told(episode) for episode in whole] == [told(after[episode.episode_id]) for episode in whole]


def test_a_stage_stops_at_its_budget_and_goes_on_with_a_larger_one_to_the_same(params: Params, paths: Paths) -> None:
    def under(calls: int | None) -> Params:
        return params.model_copy(update={"budget": BudgetParams(episodes_calls=calls)})

    with pytest.raises(BudgetReached, match=r"`episodes` is spent, .* \(budget.episodes_calls is 30\)"):
        collect_teacher(under(30), paths)
    assert not paths.episodes.exists(), "a stage that has stopped at its budget is not done"
    before = finished(paths)
    assert 0 < len(before) < 16
    with pytest.raises(BudgetReached):
        collect_teacher(under(30), paths)
    assert finished(paths) == before

    collect_teacher(under(10_000), paths)
    after = {episode.episode_id: episode for episode in read_episodes(paths.episodes)}
    assert {name: after[name] for name in before} == before
    costs = teacher_costs(paths, params.prices)
    assert costs.sent == costs.total.requests, "nothing was asked twice"
    shutil.rmtree(paths.episodes)
    collect_teacher(under(None), paths)
    whole = read_episodes(paths.episodes)
    assert [told(episode) for episode in whole] == [told(after[episode.episode_id]) for episode in whole]


def finished(paths: Paths) -> dict[str, Episode]:
    """What the ledger of the unfinished stage holds."""
    folders = list((paths.work / "rollouts/episodes").glob("*"))
    return RolloutStore(folders[0]).episodes() if folders else {}


def told(episode: Episode) -> tuple[object, ...]:
    """An episode without its times."""
    return (
        episode.episode_id,
        episode.report,
        [step.turn for step in episode.steps],
        [(item.text, item.images) for item in episode.observations],
    )


def test_a_missing_benchmark_is_named(params: Params, paths: Paths) -> None:
    shutil.rmtree(paths.benchmark)
    with pytest.raises(EviflowError, match="eviflow stage panel"):
        collect_teacher(params, paths)


def test_unfinished_work_is_named_by_what_the_stage_depends_on() -> None:
    from components.commands.stages import find_stage

    spec = find_stage("episodes")
    assert set(SECTIONS) <= set(spec.sections)
    assert set(INPUTS) == set(spec.inputs)
    assert all(any(path.startswith(folder) for path in CODE) for folder in spec.code)
