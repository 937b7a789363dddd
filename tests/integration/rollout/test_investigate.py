import io
import json
import shutil
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from rich.console import Console

from components.config.paths import Paths
from components.config.schema import Params
from components.config.settings import Settings
from components.errors import EviflowError, UsageError
from components.records.case import Case, Gold, Split
from components.records.episode import Episode, Step, Termination
from components.records.image_bank import ImageBank
from components.rollout.cases import load_cases
from components.rollout.investigate import Watch, find_policy, investigate
from components.rollout.show import StepPrinter
from components.storage.atomic import read_jsonl, write_bytes
from components.tracking.store import open_store

pytestmark = pytest.mark.slow


def picture_of(paths: Paths, tmp_path: Path) -> tuple[Path, Gold]:
    """A test picture under a name that tells nothing, and what is true of it."""
    case: Case = load_cases(paths, Split.TEST)[0]
    copied = write_bytes(tmp_path / "picture.png", ImageBank(paths.benchmark).read(case.image_sha256))
    gold = {item.case_id: item for item in read_jsonl(paths.gold / "test.jsonl", Gold)}
    return copied, gold[case.case_id]


def test_the_steps_come_one_by_one_and_then_the_episode(params: Params, paths: Paths, tmp_path: Path) -> None:
    picture, gold = picture_of(paths, tmp_path)
    shutil.rmtree(paths.facts.parent)
    steps: list[Step] = []
    said: list[str] = []

    def doing(text: str) -> AbstractContextManager[None]:
        said.append(text)
        return nullcontext()

    episode = investigate(picture, params, paths, "scripted", Watch(steps.append, doing))
    assert tuple(steps) == episode.steps
    assert said[:2] == ["turn 1: thinking", "turn 1: perceive_scene()"]
    assert len(said) == 2 * len(steps)
    assert episode.termination is Termination.FINISHED
    assert episode.report is not None
    assert episode.report.verdict is gold.factual_status
    assert episode.policy == "scripted"

    output = io.StringIO()
    printer = StepPrinter(Console(file=output, width=100))
    for step in steps:
        printer.step(step)
    printer.report(episode)
    assert "perceive_scene()" in output.getvalue()
    assert episode.report.verdict.value in output.getvalue()
    assert all(name in output.getvalue() for name in episode.report.cited)


def test_a_case_is_investigated_by_its_id(params: Params, paths: Paths, tmp_path: Path) -> None:
    picture, _ = picture_of(paths, tmp_path)
    case = load_cases(paths, Split.TEST)[0]
    named, found = (investigate(name, params, paths, "scripted") for name in (Path(case.case_id), picture))
    assert named.case == found.case
    assert named.report == found.report
    with pytest.raises(UsageError, match="test-99999 does not exist"):
        investigate(Path("test-99999"), params, paths, "scripted")


def test_the_command_leaves_a_page_and_a_trace_beside_the_runs(params: Params, paths: Paths, tmp_path: Path) -> None:
    picture, gold = picture_of(paths, tmp_path)
    write_bytes(paths.params, json.dumps(params.model_dump(mode="json")).encode())
    store = open_store(paths, params.tracking.experiment, Settings())
    command = [sys.executable, "-m", "components.cli", "--root", str(paths.root), "investigate", str(picture)]
    done = subprocess.run([*command, "--policy", "scripted"], capture_output=True, text=True, check=True)
    page = next(paths.investigations.glob("*-scripted.html"))
    assert str(page) in done.stdout
    assert "written, nothing spent, 0.0" in done.stdout.splitlines()[-1]
    assert done.stdout.splitlines()[-1].endswith("USD at list prices of 2025-06-30")
    assert f">{gold.factual_status.value}</span>" in page.read_text("utf-8")
    assert store.traces_url in done.stdout
    assert len(store.client.search_traces(locations=[store.experiment_id])) == 1

    as_json = subprocess.run([*command, "--policy", "scripted", "--json"], capture_output=True, text=True, check=True)
    assert Episode.model_validate_json(as_json.stdout).report is not None
    assert str(page) in as_json.stderr


def test_a_photograph_in_another_form_can_be_investigated(params: Params, paths: Paths, tmp_path: Path) -> None:
    from PIL import Image

    picture, _ = picture_of(paths, tmp_path)
    Image.open(picture).convert("CMYK").save(tmp_path / "picture.jpg", quality=95)
    episode = investigate(tmp_path / "picture.jpg", params, paths, "scripted")
    assert episode.report is not None


def test_a_picture_of_nothing_ends_with_a_report_or_a_reason(params: Params, paths: Paths, tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (400, 300), "white").save(tmp_path / "blank.png")
    episode = investigate(tmp_path / "blank.png", params, paths, "scripted")
    assert episode.termination in (Termination.FINISHED, Termination.PROTOCOL_FAILURE)


def test_without_a_trained_policy_the_user_is_told_what_to_do(params: Params, paths: Paths, tmp_path: Path) -> None:
    picture, _ = picture_of(paths, tmp_path)
    for name in (None, "sft", "base"):
        with pytest.raises(UsageError, match=r"make demo.*--policy scripted"):
            investigate(picture, params, paths, name)


def test_an_unknown_policy_is_refused(params: Params, paths: Paths) -> None:
    sentence = (
        "there is no policy `script`; the nearest right name is `scripted`, of scripted, sft, base, openai:URL#MODEL"
    )
    with pytest.raises(UsageError, match=sentence):
        find_policy("script", params, paths, ImageBank(paths.work))


def test_a_missing_world_is_named(params: Params, paths: Paths, tmp_path: Path) -> None:
    picture, _ = picture_of(paths, tmp_path)
    shutil.rmtree(paths.web)
    with pytest.raises(EviflowError, match="stage world"):
        investigate(picture, params, paths, "scripted")
