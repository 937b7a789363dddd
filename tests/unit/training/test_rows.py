import io
from importlib.resources import files

import pytest
from PIL import Image

from components.config.schema import PolicyParams, SftRowsParams
from components.policies.encoding import ChatEncoder
from components.policies.student import build_image_processor
from components.policies.tokenizer import train_tokenizer
from components.records.case import Case, Verdict
from components.records.conversation import Message, ToolSchema
from components.records.episode import Episode, Report, Step, StepKind, Termination, Turn
from components.records.image_bank import ImageBank
from components.training.rows import encode_episode

CALL = (
    "<think>\nlook.\n</think>\n\n<tool_call>\n<function=count_objects>\n<parameter=target_object>\nkite\n"
    "</parameter>\n</function>\n</tool_call>"
)
REPORT = (
    '<think>\nreport.\n</think>\n\n<answer>\n{"verdict": "refuted", "explanation": "x", "cited": ["o1"]}\n</answer>'
)
PARAMS = SftRowsParams()


@pytest.fixture
def encoder(tmp_path) -> ChatEncoder:
    tokenizer = train_tokenizer([CALL, REPORT, "o1 kite: 9"] * 10, 512)
    return ChatEncoder(tokenizer, build_image_processor(PolicyParams()), ImageBank(tmp_path))


def table(text: str, encoder: ChatEncoder) -> list[tuple[str, float]]:
    messages = [Message("user", "q"), Message("assistant", text)]
    (row,) = encode_episode(episode_of(step(0, text)), messages, (), encoder, PARAMS)
    ids = row.encoded.token_ids
    return [(encoder.tokenizer.decode(ids[at]), row.weights[at]) for at in range(*row.encoded.turns[0])]


@pytest.mark.incident("TR-1")
def test_calls_and_report_weigh_two_with_tags_and_stop_token_reasoning_one(encoder):
    for text, tag in ((CALL, "<tool_call>"), (REPORT, "<answer>")):
        rows = table(text, encoder)
        border = next(index for index, (token, _) in enumerate(rows) if token.startswith(tag))
        assert {weight for _, weight in rows[:border]} == {1.0}
        assert {weight for _, weight in rows[border:]} == {2.0}
        assert rows[-1] == ("<|im_end|>", 2.0)


def test_a_turn_of_mere_reasoning_weighs_one_up_to_its_stop_token(encoder):
    assert {weight for _, weight in table("<think>\nlook.\n</think>\n\n", encoder)} == {1.0}


def step(index: int, text: str, masked: bool = False) -> Step:
    kind = StepKind.REPORT if "<answer>" in text else StepKind.ACTION
    return Step(index=index, kind=kind, turn=Turn(text=text), masked=masked)


def episode_of(*steps: Step) -> Episode:
    return Episode(
        episode_id="c--scripted--s0", case=Case(case_id="c", image_path="p", image_sha256="0"), policy="scripted",
        seed=0, exposed_tools=(), action_budget=24, steps=steps,
        report=Report(verdict=Verdict.REFUTED, explanation="x", cited=("o1",)), termination=Termination.FINISHED,
        started_at="", duration_s=0.0,
    )  # fmt: skip


@pytest.mark.incident("PT-13")
def test_only_what_the_policy_wrote_and_review_admitted_is_learned(encoder):
    episode = episode_of(step(0, CALL, masked=True), step(1, CALL), step(2, REPORT))
    messages = [
        Message("system", "s"),
        Message("assistant", CALL),
        Message("tool", "o1\nkite: 0", observation_id="o1"),
        Message("assistant", CALL),
        Message("tool", "o2\nkite: 9", observation_id="o2"),
        Message("assistant", REPORT),
    ]
    (row,) = encode_episode(episode, messages, [ToolSchema("visit", "", {})], encoder, PARAMS)
    masked, learned, report = row.encoded.turns
    assert not any(row.weights[slice(*masked)])
    assert all(row.weights[slice(*learned)])
    assert all(row.weights[slice(*report)])
    supervised = sum(end - start for start, end in (learned, report))
    assert sum(weight > 0 for weight in row.weights) == supervised


@pytest.mark.incident("PT-10")
def test_where_a_template_drops_earlier_thoughts_each_turn_is_learned_once_upon_what_its_policy_read(encoder, tmp_path):
    encoder.tokenizer.chat_template = files("trl").joinpath("chat_templates/qwen3_5_think.jinja").read_text("utf-8")
    buffer = io.BytesIO()
    Image.new("RGB", (96, 64), "red").save(buffer, "PNG")
    shown = Message("user", "", images=(ImageBank(tmp_path).put(buffer.getvalue()),))
    episode = episode_of(step(0, CALL), step(1, CALL), step(2, CALL), step(3, REPORT))
    messages = [
        Message("user", "q"),
        Message("assistant", CALL),
        Message("tool", "o1\nkite: 9", observation_id="o1"),
        Message("assistant", CALL),
        Message("tool", "o2\nsee", observation_id="o2"),
        shown,
        Message("assistant", CALL),
        Message("tool", "o3\nkite: 9", observation_id="o3"),
        Message("assistant", REPORT),
    ]
    rows = encode_episode(episode, messages, [ToolSchema("visit", "", {})], encoder, PARAMS)
    learned = []
    for row in rows:
        for start, end in row.encoded.turns:
            if any(row.weights[start:end]):
                learned.append(row.encoded.token_ids[:start])
    prompts = [
        encoder.encode(messages[:at], [ToolSchema("visit", "", {})], prompt=True).token_ids for at in (1, 3, 6, 8)
    ]
    assert len(rows) == 2
    assert learned == prompts
