from pathlib import Path

import pytest

from components.errors import EviflowError
from components.records.case import Case
from components.records.episode import Episode, Termination
from components.rollout.store import EpisodeStore, Finished


def made(number: int) -> Episode:
    return Episode(
        episode_id=f"e{number}", case=Case(case_id="c", image_path="p", image_sha256="0" * 64), policy="p", seed=number,
        exposed_tools=(), action_budget=24, steps=(), report=None, termination=Termination.POLICY_ERROR, started_at="",
        duration_s=0.0,
    )  # fmt: skip


def test_a_later_run_knows_what_is_finished_and_reads_it_when_asked(tmp_path: Path) -> None:
    EpisodeStore(tmp_path).finish([made(3), made(1)])
    EpisodeStore(tmp_path).finish([made(2)])
    store = EpisodeStore(tmp_path)
    assert len(store) == 3
    assert "e2" in store
    assert "e4" not in store
    assert store.read("e1") == made(1)
    episodes = Finished(store, ["e2", "e3", "e1"])
    assert [episode.seed for episode in episodes] == [2, 3, 1]
    assert [episode.seed for episode in episodes.by_id] == [1, 2, 3]
    assert episodes[-1] == made(1)
    assert [episode.seed for episode in episodes[:2]] == [2, 3]


@pytest.mark.parametrize("lines", [0, 1, 2])
@pytest.mark.parametrize("torn", [b"", b'{"episode_id": "e'])
def test_what_a_kill_kept_from_the_index_is_found_again(tmp_path: Path, lines: int, torn: bytes) -> None:
    """An episode is on disk before the index knows of it."""
    EpisodeStore(tmp_path).finish([made(1), made(2)])
    index = tmp_path / "index.jsonl"
    index.write_bytes(b"".join(index.read_bytes().splitlines(keepends=True)[:lines]) + torn)
    with (tmp_path / "episodes.jsonl").open("ab") as file:
        file.write(torn)
    store = EpisodeStore(tmp_path)
    assert store.episodes() == {"e1": made(1), "e2": made(2)}
    store.finish([made(3)])
    assert EpisodeStore(tmp_path).episodes().keys() == {"e1", "e2", "e3"}


def test_a_ledger_that_was_cut_is_no_rollout_to_go_on_with(tmp_path: Path) -> None:
    EpisodeStore(tmp_path).finish([made(1), made(2)])
    (tmp_path / "episodes.jsonl").write_bytes(b"{}\n")
    with pytest.raises(EviflowError, match=r"episodes\.jsonl is shorter than it was"):
        len(EpisodeStore(tmp_path))
