"""The trainer takes rows as they were made, and only with what they were made with."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from row_samples import TINY

from components.config.paths import Paths
from components.config.schema import Params, SftParams, SftRowsParams
from components.errors import EviflowError
from components.training.row_record import RowRecord
from components.training.row_set import load_names, load_rows
from components.training.row_store import TRAINING, RowWriter, iterate_rows
from components.training.sft import train_sft
from components.training.sft_rows import build_sft_rows

PARAMS = Params(policy=TINY, sft=SftParams(steps=2, batch_size=2))


@pytest.fixture(scope="session")
def made_template(row_template: Paths, tmp_path_factory: pytest.TempPathFactory) -> Paths:
    made = Paths(shutil.copytree(row_template.root, tmp_path_factory.mktemp("made") / "checkout"))
    build_sft_rows(PARAMS, made)
    return made


@pytest.fixture
def made(made_template: Paths, tmp_path: Path) -> Paths:
    """A checkout with its rows made."""
    return Paths(shutil.copytree(made_template.root, tmp_path / "made"))


def refusal(params: Params, paths: Paths) -> str:
    with pytest.raises(EviflowError) as caught:
        load_rows(params, paths)
    return str(caught.value)


def test_rows_are_read_in_the_order_in_which_they_were_written(made):
    kept = list(iterate_rows(made.sft_rows, TRAINING))
    read = load_rows(PARAMS, made)
    assert [row.episode_id for row in read] == [record.episode_id for record in kept]
    assert [row.encoded.token_ids for row in read] == [record.token_ids for record in kept]


def test_other_settings_of_training_itself_do_not_matter(made):
    assert load_rows(PARAMS.model_copy(update={"sft": SftParams(steps=9, seed=3)}), made)


@pytest.mark.incident("TR-4")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tool_call_weight", 3.0),
        ("report_weight", 3.0),
        ("reasoning_weight", 0.5),
        ("quick_share", 0.5),
        ("quick_calls", 2),
        ("action_only", True),
        ("seed", 38),
    ],
)
def test_every_setting_of_the_rows_is_bound(made, name, value):
    before = SftRowsParams().model_dump()[name]
    said = refusal(PARAMS.model_copy(update={"sft_rows": SftRowsParams(**{name: value})}), made)
    assert f"sft_rows.{name} is {value} and was {before}" in said
    assert said.endswith("run `eviflow stage sft-rows`")


def test_every_setting_has_a_case_above():
    cases = next(mark for mark in test_every_setting_of_the_rows_is_bound.pytestmark if mark.name == "parametrize")
    assert {name for name, _ in cases.args[1]} == set(SftRowsParams.model_fields)


@pytest.mark.incident("TR-4")
def test_the_longest_length_is_bound(made):
    other = PARAMS.model_copy(update={"policy": TINY.model_copy(update={"max_length": 999})})
    assert "policy.max_length is 999 and was 1536" in refusal(other, made)


@pytest.mark.incident("TR-4")
@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("tokenizer.json", "tokenizer"),
        ("tokenizer_config.json", "tokenizer"),
        ("special_tokens_map.json", "tokenizer"),
        ("chat_template.jinja", "chat template"),
        ("preprocessor_config.json", "image processor"),
    ],
)
def test_files_of_the_student_are_bound(made, file, part):
    with (made.base_policy / file).open("a") as opened:
        opened.write("\n")
    assert f"the {part} of {made.base_policy} is another ({file})" in refusal(PARAMS, made)


def test_a_file_that_is_gone_is_named(made):
    (made.base_policy / "chat_template.jinja").unlink()
    assert "the chat template of" in refusal(PARAMS, made)


def edited(paths: Paths, change: Callable[[dict], None]) -> None:
    path = paths.sft_rows / "processor.json"
    written = json.loads(path.read_text())
    change(written)
    path.write_text(json.dumps(written))


@pytest.mark.incident("TR-4")
def test_schemas_of_tools_and_the_layout_are_bound(made):
    edited(made, lambda report: report["tools"][0].update(sha256="0"))
    assert "schemas of the tools of set `core`" in refusal(PARAMS, made)
    edited(made, lambda report: report["tools"][0].update(names=["gone"]))
    assert "schemas of the tools of set `core`" in refusal(PARAMS, made)
    edited(made, lambda report: report.update(layout=2))
    assert "is of layout 2, and EviFlow reads layout 1" in refusal(PARAMS, made)


def test_all_that_differs_is_named_in_one_sentence(made):
    (made.base_policy / "chat_template.jinja").write_text("")
    said = refusal(PARAMS.model_copy(update={"sft_rows": SftRowsParams(report_weight=1, seed=1)}), made)
    assert said.count("; ") == 3
    assert len(said.splitlines()) == 1


def rewritten(paths: Paths, change: Callable[[list[RowRecord]], list[RowRecord]]) -> None:
    rows = list(iterate_rows(paths.sft_rows, TRAINING))
    report = json.loads((paths.sft_rows / "processor.json").read_text())
    for file in paths.sft_rows.glob("*.parquet"):
        file.unlink()
    with RowWriter(paths.sft_rows, TRAINING, report["image_id"], report["merge_size"]) as writer:
        for row in change(rows):
            writer.append(row)


def heavier(row: RowRecord) -> RowRecord:
    spans = tuple(span._replace(weight=2 * span.weight) for span in row.spans)
    return replace(row, spans=spans, weights=[2 * weight for weight in row.weights])


@pytest.mark.parametrize(
    "change",
    [lambda rows: rows[::-1], lambda rows: rows[1:], lambda rows: [heavier(rows[0]), *rows[1:]]],
    ids=["order", "one less", "weights"],
)
def test_rows_that_were_changed_are_refused_also_where_each_is_sound(made, change):
    rewritten(made, change)
    assert "its rows have changed since" in refusal(PARAMS, made)


def test_rows_that_are_written_in_other_files_are_the_same_rows(made):
    before = load_rows(PARAMS, made)
    rewritten(made, lambda rows: rows)
    assert load_rows(PARAMS, made) == before


def test_names_that_were_changed_are_refused(made):
    assert ["2031"] not in load_names(made)
    (made.sft_rows / "names.json").write_text('{"pools": []}')
    assert "names.json has changed since" in refusal(PARAMS, made)


def test_without_rows_one_sentence_says_how_to_make_them(made):
    shutil.rmtree(made.sft_rows)
    assert refusal(PARAMS, made) == (
        f"{made.sft_rows} holds no training rows; run `eviflow stage sft-rows`, or `dvc checkout`"
    )


def test_training_refuses_before_it_loads_a_model_and_leaves_nothing(made):
    with pytest.raises(EviflowError, match=r"policy\.max_length"):
        train_sft(Params(sft=PARAMS.sft, policy=TINY.model_copy(update={"max_length": 7})), made, lambda *_: None)
    assert not made.sft_policy.exists()


def test_training_reads_rows_and_pictures_alone(made):
    """What was reviewed is not needed any more: renaming has its names in the set."""
    shutil.rmtree(made.reviewed)
    losses: list[float] = []
    result = train_sft(PARAMS, made, lambda _, metrics: losses.append(metrics["train/loss"]))
    assert len(losses) == 2
    assert result.metrics["train/rows"] == 3.0
    assert (made.sft_policy / "model.safetensors").exists()
