from pathlib import Path

import pytest
from pydantic import ValidationError

from components.config.load import load_params
from components.config.schema import Params
from components.config.tools import ToolParams
from components.errors import UsageError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "params.yaml"


def refusal(file: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_params(file)
    return str(caught.value)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "sft:\n", "sft: {}\n", "sft:\nworld:\n  seed: 7\n"])
def test_what_is_left_out_keeps_its_default(file: Path, text: str) -> None:
    file.write_text(text)
    assert load_params(file) == Params()


def test_a_value_is_taken_over(file: Path) -> None:
    file.write_text("sft:\n  steps: 3\n")
    assert load_params(file).sft.steps == 3


@pytest.mark.parametrize(
    ("text", "key", "near"),
    [
        ("sft:\n  step: 3\n", "sft.step", "sft.steps"),
        ("sft:\n  learning_rte: 3\n", "sft.learning_rte", "sft.learning_rate"),
        ("stf:\n  steps: 3\n", "stf", "sft"),
        ("sft:\n  train_events: 3\n", "sft.train_events", "world.train_events"),
        (
            "prices:\n  models:\n    gpt: {input_usd: 1, output_usd: 1, output_us: 1}\n",
            "prices.models.gpt.output_us",
            "prices.models.gpt.output_usd",
        ),
    ],
)
def test_a_wrong_key_is_named_with_the_file_and_the_nearest_right_key(
    file: Path, text: str, key: str, near: str
) -> None:
    file.write_text(text)
    assert refusal(file) == f"{file}: unknown key `{key}`; did you mean `{near}`?"


def test_even_a_key_like_no_other_gets_a_nearest_one(file: Path) -> None:
    file.write_text("review:\n  zzz: 3\n")
    assert refusal(file) == f"{file}: unknown key `review.zzz`; the nearest right key is `review.per_case`"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sft:\n  steps: 0\n", "`sft.steps` is 0, but must be greater than or equal to 1"),
        ("sft:\n  steps: many\n", "`sft.steps` is 'many', but must be a valid integer"),
        (
            "benchmark:\n  supported_share: 1.5\n",
            "`benchmark.supported_share` is 1.5, but must be less than or equal to 1",
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(file: Path, text: str, sentence: str) -> None:
    file.write_text(text)
    assert refusal(file).startswith(f"{file}: {sentence}")


def test_further_mistakes_are_counted(file: Path) -> None:
    file.write_text("sft:\n  steps: 0\n  step: 1\n")
    assert refusal(file) == f"{file}: unknown key `sft.step`; did you mean `sft.steps`? (1 more in this file)"


def test_a_missing_file_says_where_to_run(file: Path) -> None:
    assert refusal(file).startswith(f"{file} does not exist")


def test_invalid_yaml_says_where(file: Path) -> None:
    file.write_text("sft:\n  steps: [1\n")
    sentence = refusal(file)
    assert sentence.startswith(f"{file} is not valid YAML")
    assert "line 3" in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("text", ["- 1\n", "7\n", "word\n"])
def test_a_file_without_sections_is_refused(file: Path, text: str) -> None:
    file.write_text(text)
    assert "not sections such as `sft:`" in refusal(file)


def test_bytes_that_are_no_text_are_refused(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00\x01")
    assert refusal(file).endswith("is not UTF-8 text; save it as UTF-8")


@pytest.mark.parametrize("transport", ["record", "replay"])
def test_pages_that_pass_by_the_recording_are_not_recorded(transport: str) -> None:
    with pytest.raises(ValidationError, match=f"reader `direct` cannot be used with transport `{transport}`"):
        ToolParams.model_validate({"reader": "direct", "transport": transport})
    assert ToolParams.model_validate({"reader": "direct", "transport": "live"}).reader == "direct"


@pytest.mark.parametrize("key", ["episodes.policy", "evaluation.served"])
@pytest.mark.parametrize("value", ["teacher", "openai:", "openai:127.0.0.1:8000#m", "http://a.example/v1#m", "gpt-5"])
def test_a_model_on_a_server_in_another_form_is_answered_with_the_right_one(file: Path, key: str, value: str) -> None:
    section, _, name = key.partition(".")
    file.write_text(f"{section}: {{{name}: '{value}'}}\n")
    other = "scripted or " if key == "episodes.policy" else ""
    example = "openai:http://127.0.0.1:8000/v1#Qwen/Qwen3.5-9B"
    expected = f"`{key}` is {value!r}, but must be {other}openai:URL#MODEL; an example is {example}"
    assert refusal(file) == f"{file}: {expected}"


def test_a_key_in_the_address_of_a_server_is_refused_without_repeating_it(file: Path) -> None:
    file.write_text("episodes: {policy: 'openai:http://me:hunter22@a.example/v1#m'}\n")
    assert "set EVIFLOW_OPENAI_KEY instead" in refusal(file)
    assert "hunter22" not in refusal(file)


def test_a_model_on_a_server_is_taken_over(file: Path) -> None:
    file.write_text("episodes: {policy: 'openai:https://a.example/v1#m'}\n")
    assert load_params(file).episodes.policy == "openai:https://a.example/v1#m"


@pytest.mark.incident("SV-5")
def test_deadlines_of_a_model_on_a_server_must_nest(file: Path) -> None:
    file.write_text("serving: {request_timeout_s: 100, turn_timeout_s: 300}\n")
    assert "3 x request_timeout_s < turn_timeout_s, not 3 x 100, 300" in refusal(file)
