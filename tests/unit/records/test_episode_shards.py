from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from components.errors import EviflowError
from components.records import shards
from components.records.case import Case
from components.records.episode import Episode, Termination
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
            yield made(number)

    write_episode_shards(tmp_path, watched())


def test_files_from_before_there_were_shards_are_read(tmp_path: Path) -> None:
    write_episodes(tmp_path / "episodes.parquet", [made(2), made(1)])
    assert [episode.episode_id for episode in iterate_episodes(tmp_path)] == ["e-0001", "e-0002"]


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    write_episode_shards(tmp_path, [made(number) for number in range(4)], limit=1)
    (tmp_path / "episodes-00001-of-00004.parquet").unlink()
    with pytest.raises(EviflowError, match="has 3 files, and episodes-00003-of-00004"):
        read_episodes(tmp_path)


def test_a_layout_from_the_future_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_episode_shards(tmp_path, [made(1)])
    monkeypatch.setattr(shards, "VERSION", 1)
    with pytest.raises(EviflowError, match="layout 2; update EviFlow, which knows 1"):
        read_episodes(tmp_path)
