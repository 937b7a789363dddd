"""A row as a person checks it."""

import io

import pytest
from rich.console import Console
from row_samples import TINY, action, counted, episode, many_pictures, shown, write_reviewed

from components.config.paths import Paths
from components.config.schema import Params
from components.errors import EviflowError, UsageError
from components.training.row_view import show_rows
from components.training.sft_rows import build_sft_rows


@pytest.fixture
def made(paths: Paths) -> Paths:
    hostile = action("visit", {"url": "https://a.example/"}, "[red]a[/red]\x1b[2Jb\u2028c", "open \x1b]it.")
    silent = episode("silent", action("perceive_scene", {}, "a kite", thought=""))
    write_reviewed(paths, [many_pictures(), episode("plain", counted(), hostile), silent])
    build_sft_rows(Params(policy=TINY), paths)
    return paths


def printed(paths: Paths, wanted: str, *, colours: bool = False) -> str:
    file = io.StringIO()
    system = "standard" if colours else None
    show_rows(paths, wanted, Console(file=file, width=140, force_terminal=colours, color_system=system))
    return file.getvalue()


def test_every_span_has_its_name_weight_step_and_text(made):
    lines = [" ".join(line.split()) for line in printed(made, "1").splitlines()]
    assert "reasoning x1 <think>↵" in lines
    at = lines.index("tool_call x2 <tool_call>↵")
    assert lines[at + 1].startswith("step 0, ")
    assert lines[at + 3 : at + 5] == ["kite↵", "</parameter>↵"]
    assert "</tool_call><|im_end|>" in lines
    assert any(line.startswith("report x2 <answer>↵") for line in lines)
    assert any("2 tool calls, 1 picture" in line for line in lines)


def test_a_masked_turn_is_shown_with_no_weight(made):
    lines = [" ".join(line.split()) for line in printed(made, "many--scripted--s0").splitlines()]
    assert lines.count("reasoning x0 <think>↵") == lines.count("tool_call x0 <tool_call>↵") == 2
    assert "\x1b[2;9;32m" in printed(made, "0", colours=True)
    assert "\x1b[2;9;32m" not in printed(made, "1", colours=True)


def test_pictures_are_named_with_tokens_and_hash_and_not_spelled_out(made):
    text = printed(made, "0")
    for digest in (shown("red"), shown("green", (96, 64)), shown("blue", (64, 96))):
        assert f"{digest[:12]}…" in text
    assert text.count("[picture ") == 3
    assert "<|image_pad|>" not in text


def test_colours_tell_spans_apart_and_special_tokens_stand_out(made):
    text = printed(made, "1", colours=True)
    assert "\x1b[36m<think>" in text
    assert "\x1b[7;32m<|im_end|>" in text
    assert "\x1b[7;90m<|im_start|>system" in text


def test_what_a_page_says_is_neither_obeyed_nor_hidden(made):
    text = printed(made, "plain--scripted--s0#0")
    assert "[red]a[/red]" in text
    assert "\\x1b[2Jb\\u2028c" in text
    assert "\x1b" not in text


def test_rows_apart_follow_the_others(made):
    assert "case silent, refuted, action_only" in " ".join(printed(made, "2").split())
    assert "silent--scripted--s0#0" in printed(made, "silent--scripted--s0")


@pytest.mark.parametrize("wanted", ["3", "-1", "nobody"])
def test_a_row_that_there_is_not_is_answered_with_those_there_are(made, wanted):
    with pytest.raises(UsageError, match=rf"no row `{wanted}`; its rows are 0 to 2"):
        printed(made, wanted)


def test_without_a_set_and_with_another_tokenizer_one_sentence_says_so(paths, made):
    with (made.base_policy / "tokenizer.json").open("a") as file:
        file.write("\n")
    with pytest.raises(EviflowError, match=r"the tokenizer of .* is another"):
        printed(made, "0")
    (made.sft_rows / "processor.json").unlink()
    with pytest.raises(EviflowError, match="holds no training rows; run `eviflow stage sft-rows`"):
        printed(made, "0")
