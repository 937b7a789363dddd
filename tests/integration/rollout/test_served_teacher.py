"""Stage `episodes` with a model on a server as the teacher: what it is tried for, what breaks, what a kill costs."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_double import BROKEN, KEY, MODEL, STORMS
from real_server import REAL, REAL_KEY
from served_teacher import TeachingServer, teaching

from components.config.paths import Paths
from components.config.schema import EpisodeParams, Params
from components.config.serving import ServingParams
from components.config.tools import ModelPrice, PriceParams, ToolParams
from components.errors import PreflightError
from components.evaluation.review import review_episodes
from components.policies.served_check import Checked
from components.records.case import Split
from components.records.episode import Episode, Termination
from components.records.shards import read_episodes
from components.records.usage import START_CHECK
from components.rollout.cases import load_cases
from components.rollout.policies import CHECKED, policy_settings
from components.rollout.spending import read_spent
from components.rollout.store import RolloutStore
from components.rollout.teacher import collect_teacher
from components.storage.atomic import write_bytes
from components.tracking.costs import teacher_costs

pytestmark = pytest.mark.slow
KILLS = 20
PRICE = PriceParams(models={"openai-*": ModelPrice(input_usd=1, output_usd=2)})


@pytest.fixture
def server() -> Iterator[TeachingServer]:
    with teaching() as server:
        yield server


def served(params: Params, server: TeachingServer, **serving: object) -> Params:
    episodes = EpisodeParams(policy=server.policy, rollouts_per_case=2, concurrency=4)
    settings = ServingParams(**{"request_timeout_s": 5, "turn_timeout_s": 60, "concurrency": 4} | serving)
    return params.model_copy(update={"episodes": episodes, "serving": settings, "prices": PRICE})


def told(episode: Episode) -> tuple[object, ...]:
    """An episode without its times."""
    return (
        episode.episode_id,
        episode.report,
        episode.termination,
        [step.turn for step in episode.steps],
        [(item.text, item.images) for item in episode.observations],
    )


def test_a_model_on_a_server_teaches(params: Params, paths: Paths, server: TeachingServer) -> None:
    summary = collect_teacher(served(params, server, logprobs="raw_logprobs"), paths)
    episodes = read_episodes(paths.episodes)
    cases = load_cases(paths, Split.TRAIN)
    assert summary.episodes == len(episodes) == 2 * len(cases)
    assert {episode.termination for episode in episodes} == {Termination.FINISHED}
    assert {episode.policy for episode in episodes} == {"openai-maker-model-1"}
    turns = [step.turn for episode in episodes for step in episode.steps]
    assert {turn.vocabulary for turn in turns} == {f"{server.url}#{MODEL}"}
    assert {json.loads(turn.sampling_json)["logprobs_mode"] for turn in turns} == {"raw_logprobs"}
    assert set(server.asked.values()) == {1}
    assert sum(server.asked.values()) == len(turns)
    assert review_episodes(params, paths).admitted >= len(cases)

    checked = Checked.model_validate_json((paths.episodes / CHECKED).read_bytes())
    assert (checked.requests, server.checks) == (1, 1)
    charged = {item.episode_id: item.usage for item in read_spent(paths.episodes).charges}
    assert charged[START_CHECK].units == checked.prompt_tokens == 40
    costs = teacher_costs(paths, PRICE)
    assert set(costs.episodes) == {episode.episode_id for episode in episodes}, "a trial is no episode"
    assert costs.total.spent_usd == pytest.approx((len(turns) + 1) * 40e-6 + (3 * len(turns) + 3) * 2e-6)


def test_a_server_that_cannot_be_used_is_found_out_before_any_episode(
    params: Params, paths: Paths, server: TeachingServer
) -> None:
    server.thoughtful = True
    with pytest.raises(PreflightError, match="an engine that knows thinking_token_budget") as caught:
        collect_teacher(served(params, server, thinking_budget=100), paths)
    assert caught.value.exit_code == 3
    assert not server.asked
    assert not paths.episodes.exists()


def test_what_episodes_depend_on_is_known_and_nothing_else(
    params: Params, paths: Paths, server: TeachingServer
) -> None:
    def settings(policy: str, **serving: object) -> object:
        return policy_settings(policy, params.model_copy(update={"serving": ServingParams(**serving)}), paths)

    assert settings("scripted") == settings("scripted", temperature=0.1, calls="text") == {"policy": "scripted"}
    one = settings(server.policy)
    assert one == settings(server.policy, concurrency=99, request_timeout_s=1, turn_timeout_s=9)
    others = [{"temperature": 0.1}, {"calls": "text"}, {"capture": False}, {"logprobs": "raw_logprobs"}]
    assert all(settings(server.policy, **other) != one for other in others)
    assert settings(f"{server.policy}-b") != one
    assert json.loads(json.dumps(one)) == one


@pytest.mark.incident("SV-2")
@pytest.mark.incident("CS-2")
def test_whatever_breaks_every_case_ends_and_is_counted(params: Params, paths: Paths, server: TeachingServer) -> None:
    broken = {name: fault for name, (fault, _) in BROKEN.items()}
    storms = {name: fault for name, (fault, _, _) in STORMS.items() if name not in ("hangs", "drips", "503")}
    server.faults, server.rate = broken | storms, 0.06
    write_bytes(paths.root / ".env", f"EVIFLOW_OPENAI_KEY={KEY}\n".encode())
    summary = collect_teacher(served(params, server, request_timeout_s=0.9), paths)
    episodes = read_episodes(paths.episodes)
    assert summary.episodes == len(episodes) == 2 * len(load_cases(paths, Split.TRAIN))
    assert sum(server.met.values()) >= 10
    ends = {episode.termination for episode in episodes}
    assert ends <= {Termination.FINISHED, Termination.POLICY_ERROR}
    done = [episode for episode in episodes if episode.termination is Termination.FINISHED]
    assert len(done) > len(episodes) / 2
    texts = [step.turn.text for episode in episodes for step in episode.steps]
    assert all(text and "!" * 16 not in text for text in texts), "nothing broken became a turn"
    assert list(paths.quarantine.iterdir()), "what came instead is kept"
    for episode in done:
        asked = [at for at in server.answered if (at.picture, at.seed) == (episode.case.image_sha256, episode.seed)]
        assert {at.turn for at in asked} >= set(range(len(episode.steps)))
    assert KEY not in "".join(path.read_text("utf-8", "replace") for path in paths.quarantine.iterdir())


CHILD = """
import sys
from pathlib import Path
from components.config.paths import Paths
from components.config.schema import Params
from components.rollout.teacher import collect_teacher
collect_teacher(Params.model_validate_json(sys.argv[2]), Paths(Path(sys.argv[1])))
"""


@pytest.mark.incident("CS-5")
@pytest.mark.timeout(600)
def test_a_stage_that_is_killed_again_and_again_ends_with_the_same_episodes(
    params: Params, paths: Paths, server: TeachingServer
) -> None:
    settings = served(params, server)
    collect_teacher(settings, paths)
    whole = {episode.episode_id: told(episode) for episode in read_episodes(paths.episodes)}
    shutil.rmtree(paths.episodes)
    asked_for_all = server.asked.copy()
    collect_teacher(settings, paths)
    assert server.asked == asked_for_all, "what was paid for is kept, should DVC run the stage again"
    shutil.rmtree(paths.episodes)
    shutil.rmtree(paths.work / "rollouts")
    server.asked.clear()

    moments = random.Random(5)
    kept: dict[str, Episode] = {}
    kills = 0
    for _ in range(KILLS):
        asked_before = server.asked.copy()
        if not run_and_kill(settings, paths, moments.uniform(0.01, 0.15), server):
            break
        kills += 1
        assert not again(kept, asked_before, server), "a finished episode is never asked for again"
        now = finished(paths)
        assert {name: now[name] for name in kept} == kept, "a finished episode never changes"
        kept = now
    asked_before = server.asked.copy()
    collect_teacher(settings, paths)
    assert not again(kept, asked_before, server)
    after = {episode.episode_id: told(episode) for episode in read_episodes(paths.episodes)}
    assert after == whole
    assert kills >= KILLS / 2
    in_flight = settings.episodes.concurrency
    assert server.asked.total() - len(server.asked) <= kills * in_flight, "only what was under way is asked for again"
    charged = sum(charge.usage.calls for charge in read_spent(paths.episodes).charges if charge.episode_id in whole)
    assert len(server.asked) <= charged <= sum(server.asked.values()), "attempts that were killed stay charged"


def run_and_kill(params: Params, paths: Paths, after_s: float, server: TeachingServer) -> bool:
    """Run the stage in a process of its own, and kill it so long after its first turn; False when it ended before."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", CHILD, str(paths.root), params.model_dump_json()]
    asked, deadline = sum(server.asked.values()), time.monotonic() + 60
    child = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    while sum(server.asked.values()) == asked and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.005)
    try:
        child.wait(after_s)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
    return child.wait() == -signal.SIGKILL


def again(kept: dict[str, Episode], before: object, server: TeachingServer) -> list[object]:
    """Turns of finished episodes that were asked for since."""
    done = {(episode.case.image_sha256, episode.seed) for episode in kept.values()}
    since = server.asked - before  # type: ignore[operator]
    return [at for at in since if (at.picture, at.seed) in done]


def finished(paths: Paths) -> dict[str, Episode]:
    folders = list((paths.work / "rollouts/episodes").glob("*"))
    return RolloutStore(folders[0]).episodes() if folders else {}


def test_no_key_is_written_anywhere(params: Params, paths: Paths, server: TeachingServer) -> None:
    write_bytes(paths.root / ".env", f"EVIFLOW_OPENAI_KEY={KEY}\n".encode())
    server.key = KEY
    collect_teacher(served(params, server), paths)
    files = [path for path in paths.root.rglob("*") if path.is_file() and path.name != ".env"]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    (paths.root / ".env").unlink()
    shutil.rmtree(paths.work / "rollouts")
    with pytest.raises(PreflightError, match="status 401; look at EVIFLOW_OPENAI_KEY"):
        collect_teacher(served(params, server), paths)


@pytest.mark.incident("SV-8")
def test_a_dead_model_that_looks_ends_the_stage_before_any_episode(
    params: Params, paths: Paths, server: TeachingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = ToolParams(perception="model", perception_model="eye")
    both = served(params, server).model_copy(update={"tools": looks})
    for settings in (both, params.model_copy(update={"tools": looks})):
        monkeypatch.setenv("EVIFLOW_VISION_URL", "http://127.0.0.1:9/v1")
        with pytest.raises(PreflightError, match=r"eye at http://127.0.0.1:9/v1 cannot look: no connection"):
            collect_teacher(settings, paths)
        monkeypatch.delenv("EVIFLOW_VISION_URL")
        with pytest.raises(PreflightError, match="EVIFLOW_VISION_URL"):
            collect_teacher(settings, paths)
    assert not server.asked


@pytest.mark.skipif(not REAL, reason="EVIFLOW_TEST_OPENAI_URL names no server")
def test_a_real_server_teaches(params: Params, paths: Paths) -> None:
    if REAL_KEY:
        write_bytes(paths.root / ".env", f"EVIFLOW_OPENAI_KEY={REAL_KEY}\n".encode())
    episodes = EpisodeParams(policy=f"openai:{REAL}", rollouts_per_case=1, concurrency=4)
    collect_teacher(params.model_copy(update={"episodes": episodes, "serving": ServingParams(max_tokens=4096)}), paths)
    collected = read_episodes(paths.episodes)
    assert len(collected) == len(load_cases(paths, Split.TRAIN))
    assert any(episode.observations for episode in collected)
    turns = [step.turn for episode in collected for step in episode.steps]
    assert all(turn.token_ids is None or len(turn.token_ids) == len(turn.logprobs or ()) for turn in turns)
