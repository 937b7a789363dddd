"""The checkout's layout: nothing in it may shadow a library, and its files agree with each other."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import Any

import grimp
import pytest
import yaml

from components.commands.stages import STAGES, StageSpec, find_stage
from components.config.flatten import flat_params
from components.config.load import load_params
from components.config.schema import Params
from components.config.serving import SAMPLING
from components.evaluation import systems
from components.rollout import teacher

ROOT = Path(__file__).parents[1]
IN_DVC = [spec for spec in STAGES if spec.in_dvc]


def dvc_stages() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"])


def test_the_mlflow_folder_holds_no_python() -> None:
    assert (ROOT / "mlflow/README.md").read_text().startswith("# This is not a Python package")
    assert not [path for path in (ROOT / "mlflow").rglob("*") if path.suffix in {".py", ".pyi", ".ipynb"}]


def test_mlflow_is_the_installed_library() -> None:
    program = "import mlflow; print(mlflow.__file__)"
    found = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "site-packages" in found.stdout


def test_no_module_at_the_root_or_in_flows_is_named_like_a_library() -> None:
    ours = {path.stem for folder in (ROOT, ROOT / "flows") for path in folder.glob("*.py")} - {"__init__", "__main__"}
    installed = set(importlib.metadata.packages_distributions()) - {"components", "flows"}
    assert not ours & (installed | sys.stdlib_module_names)


def test_no_file_grows_past_the_house_limit() -> None:
    sources = [path for name in ("components", "flows") for path in (ROOT / name).rglob("*.py")]
    assert not [path for path in sources if len(path.read_text().splitlines()) > 300]


def test_params_yaml_spells_out_the_defaults() -> None:
    assert load_params(ROOT / "params.yaml") == Params()
    written = yaml.safe_load((ROOT / "params.yaml").read_text())
    assert written == Params().model_dump(mode="json")


def test_dvc_and_the_command_line_know_the_same_data_stages() -> None:
    assert list(dvc_stages()) == [spec.name for spec in IN_DVC]


@pytest.mark.parametrize("spec", IN_DVC, ids=lambda spec: spec.name)
def test_a_data_stage_is_described_the_same_in_both_places(spec: StageSpec) -> None:
    stage = dvc_stages()[spec.name]
    assert stage["cmd"] == f"python -m components.cli stage {spec.name}"
    assert set(stage["params"]) == set(spec.sections)
    assert set(stage["deps"]) == {*spec.code, *spec.inputs, *spec.kept}
    assert set(stage["outs"]) == set(spec.outputs)


@pytest.mark.parametrize("spec", STAGES, ids=lambda spec: spec.name)
def test_a_stage_names_code_that_exists_and_sections_that_exist(spec: StageSpec) -> None:
    assert not [path for path in spec.code if not (ROOT / path).exists()]
    known = {*Params.model_fields, *flat_params(Params(), Params.model_fields)}
    assert set(spec.sections) <= known
    assert callable(spec.load())


@pytest.fixture(scope="session")
def import_graph() -> grimp.ImportGraph:
    return grimp.build_graph("components")


@pytest.mark.parametrize("spec", STAGES, ids=lambda spec: spec.name)
def test_a_stage_depends_on_all_the_code_that_it_imports(spec: StageSpec, import_graph: grimp.ImportGraph) -> None:
    # Two stages share `curation.build`; the world needs the half that is in `curation.web`.
    module = "components.curation.web" if spec.name == "world" else spec.function.split(":")[0]
    imported = {name.replace(".", "/") for name in {module, *import_graph.find_upstream_modules(module)}}
    foundations = ("components/config", "components/errors", "components/progress", "components/storage")
    left_out = [
        path
        for path in imported - {"components"}
        if not any(path == code or f"{path}.py" == code or path.startswith(f"{code}/") for code in spec.code)
        and not path.startswith(foundations)
    ]
    assert not left_out


def test_unfinished_episodes_go_stale_with_what_their_stage_depends_on() -> None:
    episodes = find_stage("episodes")
    sections = (*teacher.SECTIONS, *SAMPLING)
    assert (episodes.sections, episodes.inputs, episodes.code) == (sections, teacher.INPUTS, teacher.CODE)
    reroll = find_stage("reroll")
    assert set(reroll.sections) == {*sections, "review", "reroll"}
    assert set(reroll.code) == {*teacher.CODE, "components/evaluation"}
    assert set(teacher.INPUTS) < set(reroll.inputs)
    evaluate = find_stage("evaluate")
    assert set(systems.CODE) == set(evaluate.code) - {"components/evaluation"}


def test_every_input_of_a_stage_is_an_output_of_an_earlier_one() -> None:
    made: set[str] = set()
    for spec in STAGES:
        assert set(spec.inputs) <= made, spec.name
        reports = [path for metric in dvc_stages().get(spec.name, {}).get("metrics", []) for path in metric]
        made |= {*spec.outputs, *reports}


@pytest.mark.parametrize("folder", [folder for spec in STAGES for folder in spec.kept])
def test_what_people_make_has_a_folder_that_git_keeps_and_dvc_can_watch(folder: str) -> None:
    assert (ROOT / folder / "README.md").is_file()


def test_ci_calls_make_test_and_nothing_else() -> None:
    lines = (ROOT / ".ci/run").read_text().splitlines()
    commands = [line for line in lines if line and not line.startswith(("#", "set ", "cd "))]
    assert commands == ["make test"]


def test_the_lock_leaves_torch_to_the_machine() -> None:
    pinned = [line.split("==")[0].lower() for line in (ROOT / "requirements.lock").read_text().splitlines()]
    assert "prefect" in pinned
    assert not [name for name in pinned if name in {"torch", "triton"} or name.startswith(("nvidia", "cuda"))]
