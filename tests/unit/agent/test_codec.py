import json

import pytest

from components.agent.codec import parse_turn, render_call, render_report
from components.records.case import Verdict
from components.records.episode import Report
from components.tools import messages

CALL = (
    "<think>\nRead the page.\n</think>\n\n"
    "<tool_call>\n<function=visit>\n<parameter=url>\nhttps://harvest-gala.example/2031\n</parameter>\n"
    "</function>\n</tool_call>"
)
REPORT = (
    "<think>\nThey differ.\n</think>\n\n"
    '<answer>\n{"verdict": "refuted", "explanation": "Shown 9, documented 7.", "cited": ["o2", "o4"]}\n</answer>'
)


def body(text: str, thought: str = "So.") -> str:
    return f"<think>\n{thought}\n</think>\n\n{text}"


def test_a_call_is_written_exactly_as_the_grammar_says() -> None:
    assert render_call("Read the page.", "visit", {"url": "https://harvest-gala.example/2031"}) == CALL


def test_a_call_without_arguments_has_no_parameter() -> None:
    text = render_call("Look.", "perceive_scene", {})
    assert "<function=perceive_scene>\n</function>" in text
    assert parse_turn(text).call.arguments_json == "{}"  # type: ignore[union-attr]


def test_a_call_reads_back_as_it_was_written() -> None:
    arguments = {"query": 'Harvest "Gala"\n& 12 März', "other": "  spaces  "}
    parsed = parse_turn(render_call("Search.", "text_search", arguments))
    assert parsed.call is not None
    assert parsed.thought == "Search."
    assert parsed.call.name == "text_search"
    assert json.loads(parsed.call.arguments_json) == arguments


def test_a_report_is_written_exactly_as_the_grammar_says_and_reads_back() -> None:
    report = Report(verdict=Verdict.REFUTED, explanation="Shown 9, documented 7.", cited=("o2", "o4"))
    assert render_report("They differ.", report) == REPORT
    assert parse_turn(REPORT).report == report


@pytest.mark.parametrize("value", ["a</parameter>b", "<tool_call>", "x <answer> y", "</think>"])
def test_a_value_that_would_break_the_grammar_is_not_written(value: str) -> None:
    with pytest.raises(ValueError, match="tag"):
        render_call("x", "text_search", {"query": value})
    with pytest.raises(ValueError, match="tag"):
        render_call(value, "text_search", {})


def test_the_thought_may_have_been_opened_by_the_chat_template() -> None:
    assert parse_turn(CALL.removeprefix("<think>\n")) == parse_turn(CALL)


def test_a_tag_inside_the_thought_is_no_call() -> None:
    text = "<think>\nI could write <tool_call> here.\n</think>\n\nNothing."
    assert parse_turn(text).problem == messages.NO_CALL


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", messages.NO_CALL),
        ("<think>\nonly a thought\n</think>", messages.NO_CALL),
        ("<think> never closed", messages.NO_CALL),
        (CALL + "\n" + CALL.partition("</think>")[2], messages.MANY_CALLS),
        (CALL + "\nand more", messages.BROKEN_CALL),
        (body("<tool_call>\n<function=visit>\n</tool_call>"), messages.BROKEN_CALL),
        (body("<tool_call>\n<function=visit>\nurl\n</function>\n</tool_call>"), messages.BROKEN_CALL),
        (
            body(
                "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n<parameter=a>\n2\n</parameter>\n"
                "</function>\n</tool_call>"
            ),
            messages.BROKEN_CALL,
        ),
        (
            body("<tool_call>\n<function=f>\n<parameter=a>\n1\n<parameter=b>\n2\n</parameter>\n</function>\n</tool_call>"),
            messages.BROKEN_CALL,
        ),
        (body("<answer>\n{}"), messages.NO_REPORT),
        (body("<answer>\n{}\n</answer> and more"), messages.NO_REPORT),
        (body("<answer>{}</answer><answer>{}</answer>"), messages.MANY_REPORTS),
        (body("<answer>\nrefuted\n</answer>"), messages.BROKEN_REPORT),
        (body('<answer>\n"refuted"\n</answer>'), messages.BROKEN_REPORT),
        (body("<answer>" + "[" * 100_000 + "</answer>"), messages.BROKEN_REPORT),
        (body('<answer>{"verdict": "refuted", "explanation": "x"}</answer>'), messages.BROKEN_REPORT),
        (
            body('<answer>{"verdict": "refuted", "explanation": "x", "cited": [], "note": 1}</answer>'),
            messages.BROKEN_REPORT,
        ),
        (
            body('<answer>{"verdict": "refuted", "verdict": "supported", "explanation": "x", "cited": []}</answer>'),
            messages.BROKEN_REPORT,
        ),
        (body('<answer>{"verdict": "refuted", "explanation": "x", "cited": "o1"}</answer>'), messages.BROKEN_REPORT),
        (body('<answer>{"verdict": "refuted", "explanation": "x", "cited": [1]}</answer>'), messages.BROKEN_REPORT),
        (body('<answer>{"verdict": "false", "explanation": "x", "cited": []}</answer>'), messages.BAD_VERDICT),
        (body('<answer>{"verdict": ["refuted"], "explanation": "x", "cited": []}</answer>'), messages.BAD_VERDICT),
        (body('<answer>{"verdict": "refuted", "explanation": " ", "cited": []}</answer>'), messages.NO_EXPLANATION),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_sentence_and_no_guess(text: str, problem: str) -> None:
    parsed = parse_turn(text)
    assert parsed.problem == problem
    assert parsed.call is None
    assert parsed.report is None


def test_a_brace_and_a_verdict_inside_the_explanation_change_nothing() -> None:
    explanation = 'The page says {"verdict": "supported"} and }.'
    report = Report(verdict=Verdict.REFUTED, explanation=explanation, cited=())
    assert parse_turn(render_report("x", report)).report == report


def test_reading_a_hostile_turn_is_quick() -> None:
    import time

    started = time.perf_counter()
    for text in ("<parameter=a>" * 20_000, "<tool_call><function=f>" + "\n" * 200_000, "<think>" * 50_000):
        parse_turn(body(f"<tool_call>\n<function=f>\n{text}\n</function>\n</tool_call>"))
        parse_turn(text)
    assert time.perf_counter() - started < 5
