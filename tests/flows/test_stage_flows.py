"""Stage flows against a real Prefect server, a real DVC and a real MLflow store."""

import json
from pathlib import Path

import pytest
from prefect import Flow
from release_samples import cases_of, draw_candidates

from components.commands.manifest import stage_identity, write_manifest
from components.commands.stages import find_stage
from components.config.load import load_params
from components.config.paths import Paths
from components.errors import EviflowError
from components.records.admission import AdmissionFunnel, PhaseCounts, funnel_of
from components.records.case import Split
from components.storage.dvc import outs
from components.tracking.runs import find_child, open_run, run_status
from components.tracking.store import Store
from flows import progress
from flows.contract import StageOutcome, StageRequest
from flows.panel_flow import panel
from flows.reroll_flow import reroll
from flows.review_flow import review
from flows.sft_flow import sft
from flows.world_flow import world

ROOT = Path(__file__).parents[2]
PANEL = """\
stages:
  panel:
    cmd: python -m components.cli stage panel
    deps: [data/candidates, reviews/cases]
    params: [world]
    outs: [data/evilens_f, data/private/gold, data/private/release]
    metrics:
      - reports/data/panel.json: {cache: false}
"""

FUNNEL = """\
stages:
  STAGE:
    cmd: python make.py
    params: [world]
    outs: [data/made]
    metrics:
      - reports/data/STAGE.json: {cache: false}
"""

pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.mark.slow
def test_a_data_flow_builds_with_dvc_and_tells_mlflow(checkout: Paths, store: Store) -> None:
    parent = open_run(store, "full", "identity")
    request = StageRequest(root=str(checkout.root), parent_run_id=parent)

    first = world(request)
    again = world(request)

    assert (first.worked, again.worked) == (True, False)
    assert first.run_id == again.run_id == find_child(store, "world", parent)
    run = store.client.get_run(first.run_id)
    assert run.info.status == "FINISHED"
    assert run.data.metrics == {"data/world/bytes": 5.0, "data/world/pages": 3.0, "data/world/why/a.b": 1.0}
    assert {"git.sha", "git.dirty", "dvc.lock.sha256", "params.sha256", "prefect.flow_run_id"} <= set(run.data.tags)
    [out] = [out for out in outs(checkout.root, "world") if out.path == "data/web"]
    [made] = run.inputs.dataset_inputs
    assert (made.dataset.name, made.dataset.digest) == (out.path, out.digest)


def artifacts_of(flow_run: str) -> dict[str, str]:
    """What a flow run leaves in Prefect, by key."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId

    wanted = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[flow_run]))
    with get_client(sync_client=True) as client:
        return {str(item.key): str(item.data) for item in client.read_artifacts(artifact_filter=wanted)}


def test_the_prefect_run_links_to_the_mlflow_run(checkout: Paths, store: Store) -> None:
    outcome = world(StageRequest(root=str(checkout.root)))
    found = artifacts_of(store.client.get_run(outcome.run_id).data.tags["prefect.flow_run_id"])
    assert list(found) == ["mlflow-run"]
    assert outcome.run_id in found["mlflow-run"]


@pytest.mark.slow
def test_the_panel_flow_releases_and_links_the_data_card(
    checkout: Paths, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw_candidates(checkout.root)
    (checkout.reviews / "cases").mkdir(parents=True)
    (checkout.root / "dvc.yaml").write_text(PANEL)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    parent = open_run(store, "full", "identity")

    outcome = panel(StageRequest(root=str(checkout.root), parent_run_id=parent))

    cases = sum(len(cases_of(checkout, split)) for split in Split)
    assert outcome.metrics["data/panel/funnel/reviewed/train/candidates"] == 12.0
    assert outcome.metrics["data/panel/status/scripted"] == 1.0
    assert cases > 0
    assert [item.path for item in store.client.list_artifacts(parent)] == ["card.html"]
    made = {item.dataset.name for item in store.client.get_run(outcome.run_id).inputs.dataset_inputs}
    assert {"data/evilens_f", "data/private/gold", "data/private/release"} <= made
    flow_run = store.client.get_run(outcome.run_id).data.tags["prefect.flow_run_id"]
    artifacts = artifacts_of(flow_run)
    assert set(artifacts) == {"mlflow-run", "data-card", "release-funnel", "panel-progress"}
    assert f"runs/{parent}/artifacts/card.html" in artifacts["data-card"]
    assert "| released |" in artifacts["release-funnel"]


def write_funnel(checkout: Paths, stage: str) -> AdmissionFunnel:
    """Let DVC make a stage whose report has a funnel."""
    counts = {"targets": 2, "collected": 4, "rejected": {"judge:unresolved": 1}, "admitted": 3}
    phase = PhaseCounts.model_validate(counts | {"surplus": 1, "kept": 2, "covered": 2})
    funnel = funnel_of({"attempt-01": phase, "attempt-02": phase})
    report = json.dumps({"kept": 4, "funnel": funnel.model_dump(mode="json")})
    (checkout.root / "dvc.yaml").write_text(FUNNEL.replace("STAGE", stage))
    (checkout.root / "make.py").write_text(
        "import pathlib, sys\n"
        f"report = {report!r}\n"
        f"for name, text in {{'data/made/file': 'made', 'reports/data/{stage}.json': report}}.items():\n"
        "    path = pathlib.Path(name)\n"
        "    path.parent.mkdir(parents=True, exist_ok=True)\n"
        "    path.write_text(text)\n"
    )
    return funnel


@pytest.mark.parametrize("stage", [review, reroll])
def test_the_admission_funnel_is_a_table_in_prefect_and_in_mlflow(
    checkout: Paths, store: Store, stage: Flow[..., StageOutcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    funnel = write_funnel(checkout, stage.name)

    outcome = stage(StageRequest(root=str(checkout.root)))

    artifacts = artifacts_of(store.client.get_run(outcome.run_id).data.tags["prefect.flow_run_id"])
    assert json.loads(artifacts[f"{stage.name}-funnel"]) == funnel.table()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.uri)  # what the client's own search of tables goes by
    table = store.client.load_table(store.experiment_id, "admission_funnel.json", run_ids=[outcome.run_id])
    assert table.to_dict(orient="records") == funnel.table()
    metrics = store.client.get_run(outcome.run_id).data.metrics
    assert metrics[f"data/{stage.name}/funnel/phases/attempt-02/rejected/judge.unresolved"] == 1.0
    assert metrics[f"data/{stage.name}/funnel/total/kept"] == 4.0


def test_a_failing_data_stage_fails_its_flow_and_its_run(checkout: Paths, store: Store) -> None:
    (checkout.root / "make.py").write_text("raise SystemExit('broken')")
    parent = open_run(store, "full", "identity")
    with pytest.raises(EviflowError, match="stage `world` failed"):
        world(StageRequest(root=str(checkout.root), parent_run_id=parent))
    child = find_child(store, "world", parent)
    assert child is not None
    assert run_status(store, child) == "FAILED"


@pytest.mark.slow
def test_a_failing_process_fails_its_flow_and_its_run(checkout: Paths, store: Store) -> None:
    with pytest.raises(EviflowError, match="stage `sft` failed"):
        sft(StageRequest(root=str(checkout.root), parent_run_id=open_run(store, "full", "identity")))
    [run] = store.client.search_runs([store.experiment_id], "tags.`eviflow.stage` = 'sft'")
    assert run.info.status == "FAILED"


def test_finished_training_is_not_repeated(checkout: Paths, store: Store) -> None:
    spec, params = find_stage("sft"), load_params(checkout.params)
    for name in (*spec.inputs, *spec.outputs):
        (checkout.root / name).mkdir(parents=True)
        (checkout.root / name / "file").write_text(name)
    made_by = open_run(store, "sft", "identity")
    write_manifest(spec, checkout, stage_identity(spec, params, checkout), made_by, {"train/loss": 0.25}, 9.0)

    parent = open_run(store, "full", "identity")
    outcome = sft(StageRequest(root=str(checkout.root), parent_run_id=parent))

    assert (outcome.worked, outcome.metrics) == (False, {"train/loss": 0.25})
    run = store.client.get_run(outcome.run_id)
    assert run.data.tags["eviflow.reused_from"] == made_by
    assert run.data.metrics == {"train/loss": 0.25}
    assert find_child(store, "sft", parent) == outcome.run_id


def test_how_far_a_stage_is_shows_in_prefect(checkout: Paths, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL_S", 0.1)
    counting = (
        "import time\nfrom components.progress import track\n"
        "for _ in track(range(4), 'writing', 4, 'pages'): time.sleep(0.5)\n"
    )
    (checkout.root / "make.py").write_text(counting + (checkout.root / "make.py").read_text("utf-8"), "utf-8")
    outcome = world(StageRequest(root=str(checkout.root)))
    found = artifacts_of(store.client.get_run(outcome.run_id).data.tags["prefect.flow_run_id"])
    assert found["world-progress"] == "100"
    assert not list((checkout.work / "progress").iterdir())
