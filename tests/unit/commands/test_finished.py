"""When a run would only repeat a finished one. The chain's test shows that nothing is done then."""

from pathlib import Path

import pytest

from components.commands.finished import RunState, finished_run, pipeline_identity, save_state
from components.config.load import parse_params
from components.config.paths import Paths
from components.config.schema import Params
from components.storage.identity import digest_file


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    (tmp_path / "dvc.yaml").write_text("stages: {}\n")
    (tmp_path / "dvc.lock").write_text("schema: '2.0'\nstages: {}\n")
    (tmp_path / "mlflow.db").touch()
    return Paths(tmp_path)


def state(paths: Paths, **changes: str) -> RunState:
    lock = digest_file(paths.root / "dvc.lock")
    made = RunState(
        identity=pipeline_identity(Params(), paths),
        dvc_lock_sha256=lock,
        run_id="r",
        run_url="u",
        seconds=1.0,
        finished_at="2031-03-12T10:00:00+00:00",
    )
    return made.model_copy(update=changes)


def test_before_the_first_run_nothing_is_finished(paths: Paths) -> None:
    assert finished_run(Params(), paths) is None


@pytest.mark.parametrize("changes", [{"identity": "other"}, {"dvc_lock_sha256": "other"}])
def test_other_settings_code_or_data_are_other_work(paths: Paths, changes: dict[str, str]) -> None:
    save_state(paths, state(paths, **changes))
    assert finished_run(Params(), paths) is None


def test_a_finished_chain_without_its_models_is_not_finished(paths: Paths) -> None:
    save_state(paths, state(paths))
    assert finished_run(Params(), paths) is None


def test_any_setting_is_part_of_the_identity(paths: Paths) -> None:
    changed = parse_params({"tracking": {"experiment": "other"}}, paths.params)
    assert pipeline_identity(changed, paths) != pipeline_identity(Params(), paths)
