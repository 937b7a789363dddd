"""The whole chain on a smaller world: killed in training, gone on with, and then asked again for nothing.

Everything is asserted on what MLflow, DVC and the checkout contain afterwards.
"""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from typing import NamedTuple

import psutil
import pytest
import yaml
from chain_checkout import Checkout
from mlflow.entities import Run

from components.commands.stages import STAGES
from components.config.settings import Settings
from components.records.episode import Episode
from components.records.shards import read_episodes
from components.storage.dvc import outs, status
from components.storage.identity import digest_tree
from components.tracking.models import fetch_checkpoint
from components.tracking.store import Store, open_store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
PATIENCE_S = 900


class Killed(NamedTuple):
    """What was there right after the kill."""

    runs: dict[str, str]
    """Stage and status of every MLflow run."""
    parent: str
    lock: str
    steps: list[int]
    """Training steps that had been logged."""


class Chain(NamedTuple):
    """The finished chain and how it came about."""

    checkout: Checkout
    store: Store
    killed: Killed
    printed: str
    """By the run that finished."""


def runs_of(store: Store) -> list[Run]:
    return list(store.client.search_runs([store.experiment_id]))


def stage_of(run: Run) -> str:
    return str(run.data.tags["eviflow.stage"])


def logged_steps(store: Store) -> list[int]:
    [sft] = [run for run in runs_of(store) if stage_of(run) == "sft"]
    return [point.step for point in store.client.get_metric_history(sft.info.run_id, "train/loss")]


def steps_in_database(checkout: Checkout) -> int:
    """Training steps that MLflow has, read beside the run that is writing them."""
    with (
        contextlib.suppress(sqlite3.OperationalError),
        closing(sqlite3.connect(checkout.paths.root / "mlflow.db")) as db,
    ):
        return int(db.execute("SELECT COUNT(*) FROM metrics WHERE key = 'train/loss'").fetchone()[0])
    return 0


def kill_in_training(checkout: Checkout) -> None:
    """Start a run, wait for the metrics of its first checkpoint, and kill it outright."""
    process = checkout.start("run")
    deadline = time.monotonic() + PATIENCE_S
    while steps_in_database(checkout) < 2:
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def wait_until_nothing_runs(checkout: Checkout) -> None:
    """The stage of a killed run notices by itself."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        lines = [" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])]
        if not any("components.cli" in line and str(checkout.paths.root) in line for line in lines):
            return
        time.sleep(0.2)
    pytest.fail("a stage outlives the run that started it")


@pytest.fixture(scope="module")
def chain(checkout: Checkout) -> Chain:
    kill_in_training(checkout)
    wait_until_nothing_runs(checkout)
    store = open_store(checkout.paths, "eviflow", Settings())
    [parent] = [run.info.run_id for run in runs_of(store) if stage_of(run) == "full"]
    killed = Killed(
        runs={stage_of(run): run.info.status for run in runs_of(store)},
        parent=parent,
        lock=(checkout.paths.root / "dvc.lock").read_text(),
        steps=logged_steps(store),
    )
    return Chain(checkout, store, killed, checkout.run("run"))


def test_the_killed_run_had_finished_its_data(chain: Chain) -> None:
    data = [spec.name for spec in STAGES if spec.in_dvc]
    assert {name: chain.killed.runs[name] for name in data} == dict.fromkeys(data, "FINISHED")
    assert "evaluate" not in chain.killed.runs


def test_one_parent_and_one_child_a_stage_whatever_happened(chain: Chain) -> None:
    stages = Counter(stage_of(run) for run in runs_of(chain.store))
    systems = {name for name in stages if name.startswith("evaluate/")}
    assert systems == {"evaluate/sft", "evaluate/untrained_agent", "evaluate/untrained_direct"}
    assert stages == Counter({"full", *(spec.name for spec in STAGES), *systems})
    assert {run.info.status for run in runs_of(chain.store)} == {"FINISHED"}
    parents = {
        run.data.tags.get("mlflow.parentRunId")
        for run in runs_of(chain.store)
        if stage_of(run) in {spec.name for spec in STAGES}
    }
    assert parents == {chain.killed.parent}


def test_nothing_finished_was_done_again(chain: Chain) -> None:
    assert (chain.checkout.paths.root / "dvc.lock").read_text() == chain.killed.lock
    data = [spec.name for spec in STAGES if spec.in_dvc]
    assert all(f"{name}: done" in chain.printed for name in data)
    assert chain.printed.count("data unchanged") == len(data)


def test_training_went_on_from_its_checkpoint(chain: Chain) -> None:
    assert logged_steps(chain.store) == list(range(1, 13))


def test_dvc_holds_the_data(chain: Chain) -> None:
    root = chain.checkout.paths.root
    assert status(root) == {}
    lock = yaml.safe_load((root / "dvc.lock").read_text())
    assert list(lock["stages"]) == [spec.name for spec in STAGES if spec.in_dvc]
    declared = {path for spec in STAGES if spec.in_dvc for path in spec.outputs}
    assert declared <= {out.path for out in outs(root)}


def test_the_runs_name_the_bytes_that_they_used(chain: Chain) -> None:
    digests = {out.path: out.digest for out in outs(chain.checkout.paths.root)}
    for run in runs_of(chain.store):
        for used in run.inputs.dataset_inputs:
            assert used.dataset.digest == digests[used.dataset.name]
    [sft] = [run for run in runs_of(chain.store) if stage_of(run) == "sft"]
    assert {item.dataset.name for item in sft.inputs.dataset_inputs} >= {"data/sft", "models/base"}


def test_every_run_can_be_joined_with_git_dvc_and_prefect(chain: Chain) -> None:
    for run in runs_of(chain.store):
        wanted = {"git.sha", "git.dirty", "dvc.lock.sha256", "params.sha256"}
        if not stage_of(run).startswith("evaluate/"):
            wanted |= {"prefect.flow_run_id", "prefect.flow_run_url"}
        assert wanted <= set(run.data.tags), stage_of(run)


def test_the_parent_holds_settings_and_headline_numbers(chain: Chain) -> None:
    run = chain.store.client.get_run(chain.killed.parent)
    assert run.data.params["sft.steps"] == "12"
    written = json.loads((chain.checkout.paths.evaluation / "metrics.json").read_text())
    assert run.data.metrics["eval/evilens-f/sesr"] == written["systems"]["sft"]["metrics"]["sesr"]
    costs = json.loads((chain.checkout.paths.evaluation / "costs.json").read_text())
    asked = sum(table["total"]["requests"] for table in costs.values())
    assert run.data.metrics["cost/evaluation/requests"] == asked
    assert run.data.metrics["cost/episodes/list_usd"] > 0 == run.data.metrics["cost/episodes/spent_usd"]


def test_the_data_card_is_with_the_run_and_in_no_folder_that_an_agent_reads(chain: Chain) -> None:
    paths = chain.checkout.paths
    assert "card.html" in [item.path for item in chain.store.client.list_artifacts(chain.killed.parent)]
    assert "programs" in paths.data_card.read_text()
    assert not [path for folder in (paths.benchmark, paths.web) for path in folder.rglob("*.html")]
    run = chain.store.client.get_run(chain.killed.parent)
    assert run.data.metrics["data/panel/status/scripted"] == 1.0


def test_the_checkpoint_is_the_candidate_and_loads(chain: Chain) -> None:
    from transformers import AutoConfig

    folder = fetch_checkpoint(chain.store, "eviscene-student", "candidate", chain.checkout.paths.root / "fetched")
    assert AutoConfig.from_pretrained(folder).model_type == "qwen3_5"
    versions = chain.store.client.search_model_versions("name = 'eviscene-student'")
    assert [str(version.version) for version in versions] == ["1"]


@pytest.mark.parametrize("system", ["sft", "untrained_agent", "untrained_direct"])
def test_every_evaluated_episode_is_a_trace(chain: Chain, system: str) -> None:
    store = chain.store
    [run] = [run for run in runs_of(store) if stage_of(run) == f"evaluate/{system}"]
    episodes: dict[str, Episode] = {
        item.episode_id: item for item in read_episodes(chain.checkout.paths.evaluation / f"{system}.parquet")
    }
    traces = store.client.search_traces(locations=[store.experiment_id], run_id=run.info.run_id, max_results=500)
    assert sorted(str(trace.info.client_request_id) for trace in traces) == sorted(episodes)
    for trace in traces:
        tools = [span for span in trace.data.spans if span.span_type == "TOOL"]
        assert len(tools) == episodes[str(trace.info.client_request_id)].actions_used
        assert {"gold", "quality", "reason", "verdict"} <= set(trace.info.tags)
        assert {item.name for item in trace.info.assessments} == {"correct", "strong"}


def test_no_folder_of_file_based_runs_appears(chain: Chain) -> None:
    assert not (chain.checkout.paths.root / "mlruns").exists()


def test_the_end_says_where_to_look(chain: Chain) -> None:
    for part in (
        "report.html",
        "card.html",
        "make ui",
        "mlflow ui --backend-store-uri",
        "try next",
        "investigate test-0",
    ):
        assert part in chain.printed


def test_a_second_run_does_nothing_and_says_so(chain: Chain) -> None:
    before = {run.info.run_id: run.info.end_time for run in runs_of(chain.store)}
    printed = chain.checkout.run("run")
    assert "nothing has changed" in printed
    assert "starting Prefect" not in printed
    assert {run.info.run_id: run.info.end_time for run in runs_of(chain.store)} == before


def test_a_second_run_beside_a_running_one_is_refused(chain: Chain) -> None:
    from components.storage.lock import hold_checkout

    with hold_checkout(chain.checkout.paths.work, "eviflow run"):
        process = chain.checkout.start("run")
        printed, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "is held by `eviflow run` (pid" in printed


def test_data_build_brings_the_checkouts_own_data_back_and_says_where_it_is(chain: Chain) -> None:
    paths = chain.checkout.paths
    before = digest_tree(paths.benchmark)
    shutil.rmtree(paths.benchmark)
    printed = chain.checkout.run("data", "build")
    assert digest_tree(paths.benchmark) == before
    assert "CPU-seconds" in printed
    for place in (paths.benchmark, paths.gold, paths.web):
        assert str(place) in printed
