import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from components.errors import EviflowError
from components.records import shards
from components.records.case import Case
from components.records.episode import Episode, Step, StepKind, Termination, Turn
from components.records.migrate import migrate_episodes
from components.records.shards import iterate_episodes, read_episodes, write_episode_shards, write_episodes


def made(number: int) -> Episode:
    return Episode(
        episode_id=f"e-{number:04}", case=Case(case_id=f"c-{number}", image_path="p", image_sha256="0" * 64),
        policy="p\u2028q", seed=number, exposed_tools=(), action_budget=24, steps=(), report=None,
        termination=Termination.POLICY_ERROR, started_at="", duration_s=0.0,
    )  # fmt: skip


def test_shards_hold_every_episode_once_in_order_and_stay_under_their_limit(tmp_path: Path) -> None:
    episodes = [made(number) for number in range(300)]
    limit = 100 * len(made(0).model_dump_json().encode())
    assert write_episode_shards(tmp_path, iter(episodes), limit) == 300
    files = sorted(tmp_path.iterdir())
    assert files[0].name == f"episodes-00000-of-0000{len(files)}.parquet"
    assert len(files) in (3, 4)
    assert read_episodes(tmp_path) == episodes


def test_a_column_can_be_filtered_without_reading_records(tmp_path: Path) -> None:
    write_episode_shards(tmp_path, [made(1), made(2)])
    table = pq.read_table(tmp_path, columns=["episode_id"], filters=[("case_id", "=", "c-2")])
    assert table.column("episode_id").to_pylist() == ["e-0002"]


def test_a_group_is_written_before_the_last_episode_is_made(tmp_path: Path) -> None:
    """Memory holds a group of rows, however many episodes there are."""

    def watched() -> Iterator[Episode]:
        for number in range(200):
            if number == 150:
                assert sum(file.stat().st_size for file in tmp_path.iterdir()) > 0
            # Larger than what a file keeps back, and of a kind that cannot be compressed.
            yield made(number).model_copy(update={"policy": random.Random(number).randbytes(500).hex()})

    write_episode_shards(tmp_path, watched())


def test_files_from_before_there_were_shards_are_read(tmp_path: Path) -> None:
    write_episodes(tmp_path / "episodes.parquet", [made(2), made(1)])
    assert [episode.episode_id for episode in iterate_episodes(tmp_path)] == ["e-0001", "e-0002"]


TURNS = {
    "as a server tells them": Turn(
        text="a", token_ids=(7, 248_000), logprobs=(-0.6931471824645996, 0.0), top_logprobs=(((7, -0.5), (8, -2.0)), ())
    ),
    "names and no ids": Turn(text="b", logprobs=(-1.5,), top_logprobs=((("b", -1.5), (2, -3.0)),)),
    "more than single precision": Turn(text="c", token_ids=(1,), logprobs=(-0.1,), top_logprobs=(((1, -0.1),),)),
    "more than 32 bits": Turn(text="d", token_ids=(2**31,), logprobs=(-0.5,)),
    "nothing": Turn(text="e", token_ids=(), logprobs=()),
    "no tokens": Turn(text="f\u2028"),
}


def sampling(number: int, *names: str) -> Episode:
    steps = [Step(index=at, kind=StepKind.CORRECTION, turn=TURNS[name]) for at, name in enumerate(names)]
    return made(number).model_copy(update={"steps": tuple(steps)})


@pytest.mark.incident("CX-5")
def test_what_was_sampled_is_read_to_the_last_bit(tmp_path: Path) -> None:
    episodes = [sampling(1, *TURNS), sampling(2, "no tokens", "as a server tells them"), sampling(3, "no tokens")]
    write_episode_shards(tmp_path, episodes)
    assert read_episodes(tmp_path) == episodes
    write_episodes(tmp_path / "one", episodes)
    assert read_episodes(tmp_path / "one") == episodes


def test_ids_and_log_probabilities_are_columns_for_anybody_who_reads_parquet(tmp_path: Path) -> None:
    write_episode_shards(tmp_path, [sampling(1, "no tokens", "as a server tells them", "names and no ids")])
    (row,) = pq.read_table(tmp_path, columns=["sampled"]).column(0).to_pylist()
    assert [entry["step"] for entry in row] == [1, 2]
    assert (row[0]["token_ids"], row[0]["top_ids"]) == ([7, 248_000], [[7, 8], []])
    assert row[0]["logprobs"] == pytest.approx([-0.693147, 0])
    assert row[1] == {"step": 2, "token_ids": None, "logprobs": [-1.5], "top_ids": None, "top_logprobs": None}


def as_layout(version: int, path: Path, episodes: list[Episode]) -> None:
    """What that version has written."""
    rows = [{"episode_id": item.episode_id, "episode": item.model_dump_json()} for item in episodes]
    told = {} if version == 1 else {"eviflow.episodes": str(version)}
    pq.write_table(pa.Table.from_pylist(rows).replace_schema_metadata(told), path)


@pytest.mark.parametrize("version", [1, 2])
def test_episodes_of_earlier_layouts_are_read(tmp_path: Path, version: int) -> None:
    episodes = [sampling(1, *TURNS), sampling(2, "no tokens")]
    as_layout(version, tmp_path / "episodes.parquet", episodes)
    assert read_episodes(tmp_path) == episodes


@pytest.mark.parametrize("version", [1, 2])
def test_earlier_layouts_are_migrated_and_the_rest_of_the_folder_stays(tmp_path: Path, version: int) -> None:
    episodes, folder = [sampling(1, *TURNS), sampling(2, "no tokens")], tmp_path / "episodes"
    (folder / "assets").mkdir(parents=True)
    (folder / "assets/picture").write_bytes(b"x")
    (folder / "spent.json").write_text("{}")
    as_layout(version, folder / ("episodes.parquet" if version == 1 else "episodes-00000-of-00001.parquet"), episodes)
    as_layout(version, tmp_path / "admitted.parquet", episodes)
    for place in (folder, tmp_path / "admitted.parquet"):
        assert migrate_episodes(place) == 2
        assert migrate_episodes(place) == 0, "what is up to date is left alone"
        assert read_episodes(place) == episodes
    assert sorted(item.name for item in folder.iterdir()) == ["assets", "episodes-00000-of-00001.parquet", "spent.json"]
    assert (folder / "assets/picture").read_bytes() == b"x"


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    write_episode_shards(tmp_path, [made(number) for number in range(4)], limit=1)
    (tmp_path / "episodes-00001-of-00004.parquet").unlink()
    with pytest.raises(EviflowError, match="has 3 files, and episodes-00003-of-00004"):
        read_episodes(tmp_path)


def test_a_layout_from_the_future_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_episode_shards(tmp_path, [made(1)])
    monkeypatch.setattr(shards, "VERSION", 1)
    with pytest.raises(EviflowError, match="layout 3; update EviFlow, which knows 1"):
        read_episodes(tmp_path)
