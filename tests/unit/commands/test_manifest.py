from pathlib import Path

import pytest

from components.commands.manifest import current_manifest, stage_identity, write_manifest
from components.commands.stages import find_stage
from components.config.load import parse_params
from components.config.paths import Paths
from components.config.schema import Params

SFT = find_stage("sft")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    for name in SFT.inputs + SFT.outputs:
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text(name)
    paths = Paths(tmp_path)
    write_manifest(SFT, paths, stage_identity(SFT, Params(), paths), "run", {"train/loss": 0.1}, 2.0)
    return paths


def test_a_finished_stage_is_known_again(paths: Paths) -> None:
    manifest = current_manifest(SFT, Params(), paths)
    assert manifest is not None
    assert (manifest.run_id, manifest.metrics) == ("run", {"train/loss": 0.1})


def test_another_recipe_is_other_work(paths: Paths) -> None:
    changed = parse_params({"sft": {"steps": 1}}, paths.params)
    assert current_manifest(SFT, changed, paths) is None


def test_the_settings_of_other_stages_do_not_count(paths: Paths) -> None:
    changed = parse_params({"evaluation": {"seed": 1}}, paths.params)
    assert current_manifest(SFT, changed, paths) is not None


@pytest.mark.parametrize("name", SFT.inputs + SFT.outputs)
def test_touched_inputs_and_outputs_are_noticed(paths: Paths, name: str) -> None:
    (paths.root / name / "file").write_text("touched")
    assert current_manifest(SFT, Params(), paths) is None


def test_a_missing_output_is_noticed(paths: Paths) -> None:
    (paths.sft_policy / "file").unlink()
    paths.sft_policy.rmdir()
    assert current_manifest(SFT, Params(), paths) is None


def test_a_torn_manifest_counts_as_none(paths: Paths) -> None:
    file = paths.work / "stages/sft.json"
    file.write_text(file.read_text()[:40])
    assert current_manifest(SFT, Params(), paths) is None
