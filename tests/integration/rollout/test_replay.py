"""A rollout that was recorded gives the same episodes when the recording answers."""

import json

import pytest
from app_server import on_a_port

from components.config.paths import Paths
from components.config.schema import EpisodeParams, Params, ToolParams
from components.errors import EviflowError
from components.records.shards import read_episodes
from components.rollout.teacher import collect_teacher
from components.tools.recording import DATABASE, read_seal
from components.world.serve import world_app


def through(params: Params, transport: str) -> Params:
    return params.model_copy(
        update={"tools": ToolParams(transport=transport), "episodes": EpisodeParams(rollouts_per_case=2, concurrency=8)}
    )


def told(params: Params, paths: Paths) -> bytes:
    """The bytes of a rollout's episodes without what clocks say."""
    collect_teacher(params, paths)
    episodes = [episode.model_dump(mode="json") for episode in read_episodes(paths.episodes)]
    for episode in episodes:
        del episode["started_at"], episode["duration_s"]
        for step in episode["steps"]:
            (step["observation"] or {}).pop("duration_s", None)
    return json.dumps(episodes, sort_keys=True).encode()


@pytest.mark.slow
def test_a_recorded_rollout_is_replayed_to_the_byte(
    params: Params, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = told(through(params, "world"), paths)
    with on_a_port(world_app(params, paths.web, paths.cache)) as address:
        monkeypatch.setenv("EVIFLOW_WORLD_URL", address)
        recorded = told(through(params, "record"), paths)
    replayed = told(through(params, "replay"), paths)
    assert recorded == replayed
    assert recorded == plain, "what answers changes nothing that a policy sees"
    folder = paths.root / ToolParams().recording
    assert read_seal(folder).answers > 10
    with (folder / DATABASE).open("ab") as file:
        file.write(b"x")
    with pytest.raises(EviflowError, match="not the file that was sealed"):
        collect_teacher(through(params, "replay"), paths)
