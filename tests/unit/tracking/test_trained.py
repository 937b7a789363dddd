"""Which runs were trained on which data, against a SQLite store."""

from pathlib import Path

from components.config.paths import Paths
from components.config.settings import Settings
from components.storage.dvc import Out
from components.tracking.datasets import log_datasets
from components.tracking.models import log_checkpoint
from components.tracking.runs import close_run, open_run
from components.tracking.store import DATABASE, Store, find_store
from components.tracking.trained import trained_on, training_runs

EPISODES, REVIEWED = Out("data/episodes", "a" * 32 + ".dir", 9), Out("data/reviewed", "b" * 32 + ".dir", 5)
NEWER = Out("data/reviewed", "c" * 32 + ".dir", 5)


def train(store: Store, name: str, *outs: Out, context: str = "training") -> str:
    run_id = open_run(store, "sft", name)
    log_datasets(store, run_id, outs, context, {})
    close_run(store, run_id)
    return run_id


def test_a_run_belongs_to_the_versions_that_have_all_its_data(store: Store) -> None:
    first = train(store, "first", EPISODES, REVIEWED)
    second = train(store, "second", EPISODES, NEWER)
    train(store, "judged", EPISODES, REVIEWED, context="evaluation")
    open_run(store, "full", "nothing logged")

    runs = training_runs(store)
    assert [run.run_id for run in runs] == [second, first]
    old = {EPISODES.path: EPISODES.digest, REVIEWED.path: REVIEWED.digest, "models/base": "d"}
    assert [run.run_id for run in trained_on(runs, old)] == [first]
    assert [run.run_id for run in trained_on(runs, old | {NEWER.path: NEWER.digest})] == [second]
    assert trained_on(runs, {EPISODES.path: EPISODES.digest}) == []


def test_a_run_tells_its_registered_models(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "sft"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    older, newer = train(store, "older", REVIEWED), train(store, "newer", REVIEWED)
    for run_id in (older, newer):
        log_checkpoint(store, folder, "student", run_id, {}, {})
    store.client.set_registered_model_alias("student", "champion", "2")
    assert [str(run) for run in training_runs(store)] == [
        f"sft {newer[:8]} finished, student/2 (candidate, champion)",
        f"sft {older[:8]} finished, student/1",
    ]


def test_looking_for_a_store_makes_none(tmp_path: Path, checkout: Paths) -> None:
    empty = Paths(tmp_path / "empty")
    empty.root.mkdir()
    assert find_store(empty, "eviflow", Settings()) is None
    assert not (empty.root / DATABASE).exists()
    assert find_store(checkout, "never", Settings()) is None
