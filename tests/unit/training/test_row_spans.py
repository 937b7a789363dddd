"""What of an episode is learned, token by token."""

from itertools import groupby, pairwise

import pytest
from row_samples import action, counted, episode, many_pictures, refused, searched

from components.agent.codec import render_call
from components.agent.render import messages_of
from components.config.schema import SftRowsParams
from components.evaluation.masking import masked
from components.policies.encoding import ChatEncoder
from components.records.episode import Episode
from components.tools.registry import schemas_for
from components.training.rows import Row, encode_episode
from components.training.spans import SpanName, TagNotFound, thought_of, turn_spans

PARAMS = SftRowsParams()


def row_of(item: Episode, encoder: ChatEncoder, params: SftRowsParams = PARAMS) -> Row:
    tools = schemas_for(item.exposed_tools, item.tool_set)
    (row,) = encode_episode(item, messages_of(item), tools, encoder, params)
    return row


def text_of(row: Row, encoder: ChatEncoder, start: int, end: int) -> str:
    return str(encoder.tokenizer.decode(row.encoded.token_ids[start:end]))


def learned(row: Row, encoder: ChatEncoder) -> list[tuple[float, str]]:
    """Neighbouring tokens of one weight, as weight and text; what weighs nothing is left out."""
    runs = [list(run) for _, run in groupby(range(row.length), key=lambda at: row.weights[at])]
    return [
        (row.weights[run[0]], text_of(row, encoder, run[0], run[-1] + 1)) for run in runs if row.weights[run[0]] > 0
    ]


@pytest.mark.incident("TR-1")
@pytest.mark.incident("PT-8")
def test_the_weight_of_every_token_of_an_episode(student_encoder):
    row = row_of(episode("c", counted(0, masked=True), counted()), student_encoder)
    assert learned(row, student_encoder) == [
        (1.0, "<think>\ncount each kite.\n</think>\n\n"),
        (
            2.0,
            "<tool_call>\n<function=count_objects>\n<parameter=target_object>\nkite\n</parameter>\n"
            "</function>\n</tool_call><|im_end|>",
        ),
        (1.0, "<think>\nenough.\n</think>\n\n"),
        (
            2.0,
            "<tool_call>\n<function=finish_investigation>\n<parameter=rationale>\nall seen\n</parameter>\n"
            "</function>\n</tool_call><|im_end|>",
        ),
        (1.0, "<think>\nreport.\n</think>\n\n"),
        (
            2.0,
            '<answer>\n{"verdict": "refuted", "explanation": "count 8 vs 9* differs", "cited": ["o1"]}\n'
            "</answer><|im_end|>",
        ),
    ]


def test_a_masked_turn_weighs_nothing_and_the_recovery_that_follows_is_learned(student_encoder):
    row = row_of(many_pictures(), student_encoder)
    weights = {}
    for span in row.spans:
        weights.setdefault(span.step, {})[span.name.value] = span.weight
    assert weights[0] == {"reasoning": 0.0, "tool_call": 0.0, "observation": 0.0}
    assert weights[2] == {"reasoning": 0.0, "tool_call": 0.0, "feedback": 0.0}
    assert weights[1] == weights[3] == weights[4] == {"reasoning": 1.0, "tool_call": 2.0, "observation": 0.0}
    assert weights[6] == {"reasoning": 1.0, "report": 2.0, "closing": 0.0}


def test_a_fault_that_review_masks_is_not_learned_and_the_way_back_is(student_encoder):
    item = episode("c", counted(), refused().model_copy(update={"masked": False}), searched())
    assert not any(step.masked for step in item.steps)
    row = row_of(masked(item), student_encoder)
    weights = {(span.step, span.name.value): span.weight for span in row.spans}
    assert weights[1, "reasoning"] == weights[1, "tool_call"] == weights[1, "feedback"] == 0.0
    assert [weights[at, "tool_call"] for at in (0, 2, 3)] == [2.0, 2.0, 2.0]
    assert "no such tool" in text_of(row, student_encoder, 0, row.length)


def test_spans_cover_the_row_without_gaps_and_carry_its_weights(student_encoder):
    row = row_of(many_pictures(), student_encoder)
    assert row.spans[0].start == 0
    assert row.spans[-1].end == row.length
    assert all(one.end == other.start for one, other in pairwise(row.spans))
    assert [span.weight for span in row.spans for _ in range(span.start, span.end)] == row.weights
    names = [span.name.value for span in row.spans[:5]]
    assert names == ["prompt", "reasoning", "tool_call", "observation", "reasoning"]


@pytest.mark.incident("PT-5")
def test_pictures_of_several_calls_stand_in_their_observations(student_encoder):
    row = row_of(many_pictures(), student_encoder)
    held = {
        span.step: row.encoded.token_ids[span.start : span.end].count(student_encoder.image_id)
        for span in row.spans
        if span.name in (SpanName.PROMPT, SpanName.OBSERVATION)
    }
    case, crop, looks = (student_encoder.image_tokens(digest) for digest in row.encoded.images)
    assert held == {None: case, 0: 0, 1: crop, 3: looks, 4: 0}


@pytest.mark.incident("PT-13")
def test_supervised_are_exactly_the_tokens_of_unmasked_turns(student_encoder):
    item = many_pictures()
    row = row_of(item, student_encoder)
    written = set()
    for step, (start, end) in zip(item.steps, row.encoded.turns, strict=True):
        written |= set() if step.masked else set(range(start, end))
    assert {at for at, weight in enumerate(row.weights) if weight > 0} == written


def test_an_empty_thought_is_not_learned_and_its_call_is(student_encoder):
    silent = action("perceive_scene", {}, "photo: a kite", thought="")
    row = row_of(episode("c", silent), student_encoder)
    weights = {span.name.value: span.weight for span in row.spans if span.step == 0}
    assert weights == {"reasoning": 0.0, "tool_call": 2.0, "observation": 0.0}


@pytest.mark.incident("PT-9")
def test_ids_that_were_sampled_in_pieces_are_learned_as_they_were_sampled(student_encoder):
    tokenizer = student_encoder.tokenizer
    text = render_call("look.", "perceive_scene", {})
    pieces = tuple(token for character in text for token in tokenizer.encode(character))
    assert list(pieces) != tokenizer.encode(text)
    sampled = (*pieces, student_encoder.stop_id)
    turn = action("perceive_scene", {}, "a kite", "look.", token_ids=sampled, vocabulary=student_encoder.vocabulary)
    row = row_of(episode("c", turn), student_encoder)
    start, end = row.encoded.turns[0]
    assert tuple(row.encoded.token_ids[start:end]) == sampled
    assert learned(row, student_encoder)[:2] == [
        (1.0, "<think>\nlook.\n</think>\n\n"),
        (2.0, f"{text.partition('</think>')[2].strip()}<|im_end|>"),
    ]


def test_a_tag_that_a_thought_mentions_is_no_call(student_encoder):
    tokenizer = student_encoder.tokenizer
    pieces = [
        token
        for character in "a <tool_call> comes\n</think>\n\n<tool_call>\nx"
        for token in tokenizer.encode(character)
    ]
    spans = turn_spans(pieces, student_encoder, SpanName.TOOL_CALL)
    assert [span.name.value for span in spans] == ["reasoning", "tool_call"]
    assert tokenizer.decode(pieces[spans[1].start :]) == "<tool_call>\nx"


@pytest.mark.incident("TR-1")
def test_a_call_that_is_not_among_the_ids_is_no_training_material(student_encoder):
    foreign = (*student_encoder.tokenizer.encode("kite kite"), student_encoder.stop_id)
    turn = action("perceive_scene", {}, "a kite", token_ids=foreign, vocabulary=student_encoder.vocabulary)
    with pytest.raises(TagNotFound, match=r"c--scripted--s0, step 0 has no <tool_call>"):
        row_of(episode("c", turn), student_encoder)


def test_the_weights_are_those_of_the_settings(student_encoder):
    params = SftRowsParams(tool_call_weight=3, report_weight=5, reasoning_weight=0)
    row = row_of(episode("c", counted(), searched()), student_encoder, params)
    weights = {span.name.value: span.weight for span in row.spans}
    assert {name: weights[name] for name in ("reasoning", "tool_call", "report")} == {
        "reasoning": 0.0,
        "tool_call": 3.0,
        "report": 5.0,
    }


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ("<think>\nlook.\n</think>\n\n<tool_call>", "look."),
        ("look.\n</think>\n\n<tool_call>", "look."),
        ("Let me look.\n<tool_call>", "Let me look."),
        ("<think>\n\n</think>\n\n<tool_call>", ""),
        ("<think>\n...\n</think>\n\n<answer>", ""),
        ("<tool_call>\n<function=visit>", ""),
    ],
)
def test_a_thought_is_what_can_be_read_before_the_call(text, thought):
    assert thought_of(text) == thought
