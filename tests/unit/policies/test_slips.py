import pytest

from components.agent.codec import parse_turn, render_call, render_report
from components.policies.slips import EVERY, slip
from components.records.case import Verdict
from components.records.conversation import Conversation, Message, ToolSchema
from components.records.episode import Report

REPORT = Report(verdict=Verdict.REFUTED, explanation="date 1 May 2031 vs 2 May 2031 differs", cited=("o1", "o3"))
RIGHT = render_report("report.", REPORT)
TOOLS = (ToolSchema("visit", "", {}),)


def history(*turns: tuple[str, dict[str, str], str]) -> list[Message]:
    """Calls with their answers; an answer that does not begin with an observation's id is a refusal."""
    messages = [Message("system", "s"), Message("user", "q", images=("0" * 64,))]
    for tool, arguments, answer in turns:
        messages.append(Message("assistant", render_call("look.", tool, arguments)))
        name = answer.partition("\n")[0] if answer.startswith("o") else None
        messages.append(Message("tool", answer, observation_id=name))
    return messages


DONE = (
    ("ocr_with_position", {}, "o1\nHarvest Gala"),
    ("text_search", {"query": "Harvest Gala"}, "o2\nHarvest Gala\nhttps://harvest-gala.example/2031"),
    ("visit", {"url": "https://harvest-gala.example/2031"}, "o3\nHarvest Gala was held."),
)


def conversation(messages: list[Message], stage: str) -> Conversation:
    return Conversation(tuple(messages), TOOLS, TOOLS, stage, 0)


def mistaken(messages: list[Message], stage: str, first: int, second: int) -> str | None:
    return slip(conversation(messages, stage), bytes([first, second]), RIGHT)


def test_most_investigations_have_no_slip() -> None:
    for first in range(1, EVERY):
        assert all(
            mistaken(history(*DONE), stage, first, second) is None
            for stage in ("investigate", "report")
            for second in range(6)
        )


def test_a_page_is_opened_again_once() -> None:
    turn = mistaken(history(*DONE), "investigate", 0, 0)
    assert turn is not None
    call = parse_turn(turn).call
    assert call is not None
    assert (call.name, "2031" in call.arguments_json) == ("visit", True)
    refused = history(*DONE, ("visit", {"url": "https://harvest-gala.example/2031"}, "This page was opened before."))
    assert mistaken(refused, "investigate", 0, 0) is None


@pytest.mark.parametrize(("second", "cited"), [(1, ("o1", "o3", "o3")), (3, ("o1", "o3", "o2")), (5, None)])
def test_a_report_cites_wrongly_or_breaks_off_once(second: int, cited: tuple[str, ...] | None) -> None:
    messages = [*history(*DONE), Message("user", "Report now.")]
    turn = mistaken(messages, "report", 0, second)
    assert turn is not None
    report = parse_turn(turn).report
    assert (report.cited if report else None) == cited
    after = [*messages, Message("assistant", turn), Message("user", "o2 cannot be cited.")]
    assert mistaken(after, "report", 0, second) is None


def test_an_investigation_whose_report_will_slip_repeats_nothing() -> None:
    assert mistaken(history(*DONE), "investigate", 0, 1) is None
