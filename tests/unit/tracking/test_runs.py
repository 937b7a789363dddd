import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import mlflow
import pytest

from components.config.paths import Paths
from components.config.settings import Settings
from components.errors import UsageError
from components.storage.dvc import Out
from components.tracking.datasets import log_datasets
from components.tracking.metrics import MetricStream
from components.tracking.models import fetch_checkpoint, log_checkpoint
from components.tracking.runs import close_run, closing, log_metrics, log_params, open_run, run_status, sweep_orphans
from components.tracking.store import Store, open_store


def children(store: Store, parent: str) -> list[str]:
    found = store.client.search_runs([store.experiment_id], f"tags.`mlflow.parentRunId` = '{parent}'")
    return [run.info.run_id for run in found]


def test_a_killed_pipeline_goes_on_in_the_same_runs(store: Store) -> None:
    parent = open_run(store, "full", "identity")
    child = open_run(store, "sft", "stage-identity", parent=parent)
    close_run(store, child, "KILLED")
    close_run(store, parent, "KILLED")

    assert open_run(store, "full", "identity") == parent
    assert open_run(store, "sft", "stage-identity", parent=parent) == child
    assert run_status(store, child) == "RUNNING"
    assert children(store, parent) == [child]


def test_a_finished_pipeline_is_not_reopened(store: Store) -> None:
    parent = open_run(store, "full", "identity")
    close_run(store, parent)
    assert open_run(store, "full", "identity") != parent


def test_other_work_gets_another_run(store: Store) -> None:
    assert open_run(store, "full", "identity") != open_run(store, "full", "other")


def test_a_run_whose_process_was_killed_is_closed_at_the_next_start(checkout: Paths, store: Store) -> None:
    program = (
        "import sys, time; from pathlib import Path; from components.config.paths import Paths;"
        "from components.config.settings import Settings; from components.tracking.store import open_store;"
        "from components.tracking.runs import open_run;"
        "print(open_run(open_store(Paths(Path(sys.argv[1])), 'eviflow', Settings()), 'full', 'x'), flush=True);"
        "time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(checkout.root)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    orphan = process.stdout.readline().strip()
    mine = open_run(store, "full", "identity")
    assert sweep_orphans(store) == []
    os.kill(process.pid, signal.SIGKILL)
    process.wait()

    assert sweep_orphans(store) == [orphan]
    assert run_status(store, orphan) == "KILLED"
    assert run_status(store, mine) == "RUNNING"


@pytest.mark.parametrize(("error", "status"), [(ValueError, "FAILED"), (KeyboardInterrupt, "KILLED")])
def test_a_run_never_stays_running(store: Store, error: type[BaseException], status: str) -> None:
    run_id = open_run(store, "sft", "identity")
    with pytest.raises(error), closing(store, run_id):
        raise error
    assert run_status(store, run_id) == status


def test_threads_that_log_to_two_runs_do_not_mix(store: Store) -> None:
    runs = [open_run(store, "sft", name) for name in ("a", "b")]

    def log(run_id: str, value: float) -> None:
        for step in range(5):
            log_metrics(store, run_id, {"train/loss": value}, step)

    threads = [threading.Thread(target=log, args=(run_id, float(index))) for index, run_id in enumerate(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index, run_id in enumerate(runs):
        history = store.client.get_metric_history(run_id, "train/loss")
        assert [point.value for point in history] == [float(index)] * 5


def test_an_over_long_parameter_does_not_stop_the_rest(store: Store) -> None:
    run_id = open_run(store, "full", "identity")
    log_params(store, run_id, {"short": 1, "long": "x" * 10_000})
    log_params(store, run_id, {"short": 2, "more": 3})
    log_metrics(store, run_id, {"train/loss": 0.5})
    run = store.client.get_run(run_id)
    assert run.data.params == {"short": "1", "more": "3"}
    assert run.data.metrics == {"train/loss": 0.5}


def test_a_resumed_stream_repeats_no_step(store: Store) -> None:
    run_id = open_run(store, "sft", "identity")
    with MetricStream(store, run_id, "train/loss", 100) as stream:
        for step in range(1, 8):
            stream(step, {"train/loss": 1.0 / step, "train/lr": 0.1})
    with MetricStream(store, run_id, "train/loss", 100) as stream:
        for step in range(5, 11):
            stream(step, {"train/loss": 1.0 / step, "train/lr": 0.1})
    assert [point.step for point in store.client.get_metric_history(run_id, "train/loss")] == list(range(1, 11))


def test_what_led_to_a_checkpoint_is_written_with_it(store: Store) -> None:
    run_id = open_run(store, "sft", "identity")
    stream = MetricStream(store, run_id, "train/loss", 2)
    for step in (1, 2, 3):
        stream(step, {"train/loss": 1.0})
    assert [point.step for point in store.client.get_metric_history(run_id, "train/loss")] == [1, 2]


def test_datasets_carry_the_digests_of_dvc(store: Store) -> None:
    run_id = open_run(store, "sft", "identity")
    out = Out("data/reviewed", "4f8a69b41158f924148d782117af2916.dir", 12)
    log_datasets(store, run_id, [out], "training", {"git.sha": "abc"})
    [used] = store.client.get_run(run_id).inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.digest) == (out.path, out.digest)
    assert {tag.key: tag.value for tag in used.tags} == {"mlflow.data.context": "training", "git.sha": "abc"}


def test_a_checkpoint_is_registered_once_and_loads_back(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "sft"
    (folder / "sub").mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "sub" / "weights.bin").write_bytes(b"\x00\x01")
    run_id = open_run(store, "sft", "identity")

    first = log_checkpoint(store, folder, "student", run_id, {"stage": "sft"}, {"steps": 3})
    again = log_checkpoint(store, folder, "student", run_id, {"stage": "sft"}, {"steps": 3})

    assert first == again
    assert store.client.get_logged_model(first.model_id).status == "READY"
    loaded = fetch_checkpoint(store, "student", "candidate", tmp_path / "fetched")
    assert (loaded / "sub" / "weights.bin").read_bytes() == b"\x00\x01"
    by_alias = tmp_path / "by-alias"
    by_alias.mkdir()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.uri)
    mlflow.artifacts.download_artifacts("models:/student@candidate", dst_path=str(by_alias))
    assert (by_alias / "config.json").read_text() == "{}"
    (folder / "config.json").write_text("[]")
    newer = log_checkpoint(store, folder, "student", run_id, {}, {})
    assert (newer.version, newer.model_id != first.model_id) == ("2", True)
    log_metrics(store, run_id, {"eval/evilens-f/sesr": 0.7}, model_id=newer.model_id)
    assert [point.value for point in store.client.get_logged_model(newer.model_id).metrics] == [0.7]


def test_a_folder_is_no_place_for_runs(checkout: Paths) -> None:
    with pytest.raises(UsageError, match=r"MLFLOW_TRACKING_URI is the folder `\./mlruns`"):
        open_store(checkout, "eviflow", Settings(MLFLOW_TRACKING_URI="./mlruns"))


def test_the_store_lies_in_the_checkout(checkout: Paths, store: Store) -> None:
    assert store.uri == f"sqlite:///{checkout.root}/mlflow.db"
    experiment = store.client.get_experiment(store.experiment_id)
    assert experiment.artifact_location == (checkout.root / "mlartifacts/eviflow").as_uri()
    assert not (checkout.root / "mlruns").exists()
