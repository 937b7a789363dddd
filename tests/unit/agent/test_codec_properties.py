"""Whatever a policy writes, a turn is read as one call, as one report, or as one sentence of correction."""

import asyncio
import json

import pytest
from agent_doubles import Look, Search, investigation
from hypothesis import given
from hypothesis import strategies as st

from components.agent.codec import Parsed, parse_turn, render_call, render_report
from components.records.case import Verdict
from components.records.episode import Report, StepKind, ToolCall, Turn
from components.tools import messages
from components.tools.toolbox import FINISH, Accepted, Refused

TAGS = (
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>", "<function=visit>"),
    *("</function>", "<parameter=url>", "</parameter>"),
    *("\n", "\u2028", "\u2029", "\x85", "{", "}", "[", '"', ",", "\\", "\x00"),
)
words = st.text(st.characters(exclude_characters="<>", exclude_categories=("Cs",)), max_size=40)
soup = st.lists(st.one_of(st.sampled_from(TAGS), words), max_size=30).map("".join)
names = st.from_regex(r"[a-z_]{1,20}", fullmatch=True)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), words),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=4)),
    max_leaves=10,
)
CALL = render_call("Open it.", "visit", {"url": "https://harvest-gala.example/2031", "goal": "the date"})
REPORT = render_report("So.", Report(verdict=Verdict.REFUTED, explanation="7 vs 9 differs", cited=("o1", "o2")))


def is_one_thing(parsed: Parsed) -> bool:
    return [parsed.call is not None, parsed.report is not None, bool(parsed.problem)].count(True) == 1


@given(soup)
def test_any_text_is_one_thing(text: str) -> None:
    assert is_one_thing(parse_turn(text))


@given(st.sampled_from([CALL, REPORT]), st.integers(0, 300), st.integers(0, 40), soup)
def test_a_damaged_turn_is_refused_or_means_what_it_says(turn: str, start: int, length: int, put: str) -> None:
    parsed = parse_turn(turn[:start] + put + turn[start + length :])
    assert is_one_thing(parsed)
    if parsed.call is not None and "<" not in parsed.thought + parsed.call.arguments_json:
        again = parse_turn(render_call(parsed.thought, parsed.call.name, json.loads(parsed.call.arguments_json)))
        assert again.call == parsed.call


@given(names, st.dictionaries(names, words, max_size=5), words)
def test_every_call_reads_back_as_it_was_written(name: str, arguments: dict[str, str], thought: str) -> None:
    parsed = parse_turn(render_call(thought, name, arguments))
    assert parsed.call is not None
    assert parsed.call.name == name
    assert json.loads(parsed.call.arguments_json) == arguments
    assert parsed.thought == thought.strip()


@given(words.filter(str.strip), st.lists(names, max_size=5), st.sampled_from(Verdict))
def test_every_report_reads_back_as_it_was_written(explanation: str, cited: list[str], verdict: Verdict) -> None:
    report = Report(verdict=verdict, explanation=explanation, cited=tuple(cited))
    assert parse_turn(render_report("So.", report)).report == report


@pytest.mark.parametrize(
    "body",
    [
        '{"verdict": "refuted", "explanation": "x", "cited": [],}',
        '{"verdict": "refuted", "explanation": "x", "cited": ["o1",]}',
        '{"verdict": "refuted", "explanation": "x", "cited": [["o1"]]}',
        '{"verdict": "refuted", "explanation": "x", "cited": [], "cited": ["o1"]}',
        '{"verdict": "refuted", "explanation": "x", "cited": NaN}',
        "{'verdict': 'refuted', 'explanation': 'x', 'cited': []}",
        '{"verdict": "refuted", "explanation": "x", "cited": []} {}',
        '{"verdict": "refuted", "explanation": "x\n\u2028", "cited": [}',
        '[{"verdict": "refuted", "explanation": "x", "cited": []}]',
    ],
)
def test_json_that_is_nearly_right_is_not_mended(body: str) -> None:
    parsed = parse_turn(f"<think>\nSo.\n</think>\n\n<answer>\n{body}\n</answer>")
    assert parsed.problem == messages.BROKEN_REPORT


def test_line_separators_of_unicode_stay_in_values() -> None:
    for separator in "\u2028\u2029\x85\v\f":
        arguments = {"query": f"a{separator}b"}
        parsed = parse_turn(render_call("x", "text_search", arguments))
        assert parsed.call is not None
        assert json.loads(parsed.call.arguments_json) == arguments


@given(st.one_of(names, st.sampled_from(["text_search", "perceive_scene", FINISH])), values)
def test_no_arguments_break_the_toolbox(tmp_path_factory: pytest.TempPathFactory, name: str, value: object) -> None:
    toolbox = investigation(tmp_path_factory.getbasetemp(), tools=(Look(), Search()))._toolbox
    for text in (json.dumps(value), json.dumps({"query": value}), json.dumps({"query": "x", "more": value})):
        checked = toolbox.check(ToolCall(name=name, arguments_json=text), 24)
        assert isinstance(checked, Accepted | Refused)
        if name not in toolbox.names:
            assert checked == Refused(messages.unknown_tool(name))


@given(soup)
def test_whatever_is_written_the_loop_goes_on_and_executes_nothing_unread(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    running = investigation(tmp_path_factory.getbasetemp(), tools=(Look(), Search()))
    step = asyncio.run(running.advance(Turn(text=text)))
    assert step.kind is StepKind.CORRECTION
    assert step.feedback
    assert step.observation is None
    assert running.actions_left == 24
