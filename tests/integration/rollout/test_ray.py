"""Teacher episodes on a local Ray cluster with two workers, one of which is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from components.config.paths import Paths
from components.config.schema import BudgetParams, EpisodeParams, Params, RolloutParams
from components.errors import BudgetReached
from components.records.episode import Episode
from components.records.shards import read_episodes
from components.rollout.store import RolloutStore
from components.rollout.teacher import collect_teacher

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
pytest.importorskip("prefect_ray")

CHILD = """
import sys
from pathlib import Path
from components.config.paths import Paths
from components.config.schema import Params
from components.errors import EviflowError
from components.rollout.teacher import collect_teacher
try:
    collect_teacher(Params.model_validate_json(sys.argv[2]), Paths(Path(sys.argv[1])))
except EviflowError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


@pytest.fixture
def on_ray(params: Params, paths: Paths) -> Params:
    paths.work.mkdir(exist_ok=True)
    rollout = RolloutParams(executor="ray", shards=6, ray_workers=2, drain_s=60)
    episodes = EpisodeParams(concurrency=2, rollouts_per_case=4)
    return params.model_copy(update={"rollout": rollout, "episodes": episodes})


def start(params: Params, paths: Paths) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", CHILD, str(paths.root), params.model_dump_json()]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def finished(paths: Paths) -> dict[str, Episode]:
    folders = list((paths.work / "rollouts/episodes").glob("*"))
    return RolloutStore(folders[0]).episodes() if folders else {}


def wait_for(paths: Paths, count: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 300
    while len(finished(paths)) < count and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)


def busy_workers(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    children = psutil.Process(process.pid).children(recursive=True)
    return [child for child in children if child.cmdline()[:1] and child.cmdline()[0].startswith("ray::shard")]


def told(episode: Episode) -> tuple[object, ...]:
    """An episode without its times."""
    return episode.episode_id, episode.report, [(item.text, item.images) for item in episode.observations]


def test_a_worker_that_is_killed_leaves_its_shard_to_the_next_and_nothing_is_lost(on_ray: Params, paths: Paths) -> None:
    process = start(on_ray, paths)
    wait_for(paths, 3, process)
    workers = busy_workers(process)
    assert len(workers) == 2, "two workers share the work"
    before = finished(paths)
    workers[0].send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=400)
    assert process.returncode == 0, errors.decode()[-2000:]

    after = {episode.episode_id: episode for episode in read_episodes(paths.episodes)}
    assert {name: after[name] for name in before} == before, "what was finished was not run again"
    on_threads = on_ray.model_copy(update={"rollout": RolloutParams()})
    collect_teacher(on_threads, paths)
    assert [told(episode) for episode in read_episodes(paths.episodes)] == [told(item) for item in after.values()]


def test_workers_are_asked_to_end_and_whoever_goes_on_keeps_to_what_they_had(on_ray: Params, paths: Paths) -> None:
    process = start(on_ray, paths)
    wait_for(paths, 3, process)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 143, errors.decode()[-2000:]
    assert "ended on request" in errors.decode()
    before = finished(paths)
    assert 3 <= len(before) < 32
    assert not paths.episodes.exists()

    limited = on_ray.model_copy(update={"budget": BudgetParams(episodes_calls=1)})
    with pytest.raises(BudgetReached, match=f"{len(before)} of 32 episodes"):
        collect_teacher(limited, paths)
    assert finished(paths) == before, "what the workers of both runs have spent counts"
    on_threads = limited.model_copy(update={"rollout": RolloutParams()})
    with pytest.raises(BudgetReached, match=f"{len(before)} of 32 episodes"):
        collect_teacher(on_threads, paths)
    assert finished(paths) == before, "and so it does when no worker goes on"

    fewer = on_ray.rollout.model_copy(update={"shards": 2})
    collect_teacher(on_ray.model_copy(update={"rollout": fewer}), paths)
    after = {episode.episode_id: episode for episode in read_episodes(paths.episodes)}
    assert len(after) == 32, "the shards are those that it was begun with"
    assert {name: after[name] for name in before} == before
