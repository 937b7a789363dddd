import pytest

from components.agent.codec import parse_turn
from components.policies.reading import read_count, read_kinds, read_page, read_printed, read_rows
from components.policies.scripted import ScriptedTeacher
from components.records.case import Verdict
from components.records.conversation import Conversation, Message, ToolSchema

NAMES = (
    "perceive_scene", "ocr_with_position", "count_objects", "text_search", "visit", "text_image_search",
    "reverse_image_search", "compare_with_reference", "crop_and_inspect", "finish_investigation",
)  # fmt: skip
ANSWERS = {
    "perceive_scene": "photo: one person; repeated objects: balloon or lantern; printed text",
    "ocr_with_position": "Harvest Gala\nRowan Hall\n12 March 2031",
    "count_objects": {"lantern": "lantern: 9", "balloon": "balloon: 0"},
    "text_search": "Harvest Gala\nhttps://harvest-gala.example/2034\nHarvest Gala\nhttps://harvest-gala.example/2031",
    "visit": {
        "https://harvest-gala.example/2031": "Harvest Gala was held on 12 March 2031 at Rowan Hall. Mara Venn was the "
        "host. Visitors saw 9 lanterns.\npicture: https://harvest-gala.example/2031/photo.png",
        "https://harvest-gala.example/2034": "Harvest Gala was held on 3 May 2034 at Oak Park. The host was Ivan York. "
        "Visitors saw 4 lanterns.",
    },
    "text_image_search": "Portrait of Mara Venn\nhttps://people.example/mara-venn/portrait.png",
    "compare_with_reference": "same person",
}


def investigate(changes: dict[str, object], seed: int = 0) -> tuple[list[str], Message]:
    """Play an investigation against fixed answers; gives the calls made and the last turn."""
    import json

    answers = ANSWERS | changes
    tools = tuple(ToolSchema(name, "", {}) for name in NAMES)
    messages = [Message("system", "s"), Message("user", "q", images=("0" * 64,))]
    made: list[str] = []
    stage = "investigate"
    while True:
        conversation = Conversation(tuple(messages), tools, tools, stage, seed)
        turn = Message("assistant", ScriptedTeacher().act([conversation])[0].text)
        if stage == "report":
            return made, turn
        call = parse_turn(turn.text).call
        assert call is not None
        made.append(call.name)
        messages.append(turn)
        if call.name == "finish_investigation":
            stage = "report"
            messages.append(Message("user", "Report now."))
            continue
        answer = answers[call.name]
        if isinstance(answer, dict):
            answer = answer[next(iter(json.loads(call.arguments_json).values()))]
        messages.append(Message("tool", f"o{len(made)}\n{answer}", observation_id=f"o{len(made)}"))


def verdict(turn: Message) -> tuple[Verdict, str]:
    report = parse_turn(turn.text).report
    assert report is not None
    return report.verdict, report.explanation


def test_agreement_is_reported_only_after_all_four_details_were_checked():
    made, turn = investigate({})
    assert set(made) >= {"count_objects", "visit", "compare_with_reference"}
    assert verdict(turn) == (
        Verdict.SUPPORTED,
        "date 12 March 2031 vs 12 March 2031 same; venue Rowan Hall vs Rowan Hall same; count 9 vs 9 same; "
        "host Mara Venn same person",
    )


@pytest.mark.parametrize(
    ("changes", "explanation"),
    [
        (
            {"ocr_with_position": "Harvest Gala\nRowan Hall\n5 June 2031"},
            "date 5 June 2031 vs 12 March 2031 differs",
        ),
        ({"ocr_with_position": "Harvest Gala\nOak Pier\n12 March 2031"}, "venue Oak Pier vs Rowan Hall differs"),
        ({"count_objects": {"lantern": "lantern: 7", "balloon": "balloon: 0"}}, "count 7 vs 9 differs"),
        ({"compare_with_reference": "different person"}, "host Mara Venn different person"),
    ],
)
def test_one_contradiction_refutes_and_is_named(changes, explanation):
    assert verdict(investigate(changes)[1]) == (Verdict.REFUTED, explanation)


def test_a_kind_that_was_not_there_is_given_up_for_its_look_alike():
    orders = {tuple(name for name in investigate({}, seed)[0] if name == "count_objects") for seed in range(2)}
    assert orders == {("count_objects",), ("count_objects", "count_objects")}


def test_of_two_editions_one_is_tried_first_and_the_other_found_back_to():
    tries = {investigate({}, seed)[0].count("visit") for seed in range(2)}
    assert tries == {1, 2}
    assert {verdict(investigate({}, seed)[1])[0] for seed in range(2)} == {Verdict.SUPPORTED}


def test_a_record_that_contradicts_in_several_details_is_another_edition():
    rows = "Harvest Gala\nhttps://harvest-gala.example/2034"
    other = "Harvest Gala\nhttps://harvest-gala.example/2031"
    made, turn = investigate(
        {"text_search": f"{rows}\n{other}", "ocr_with_position": "Harvest Gala\nRowan Hall\n12 March 2033"}
    )
    assert made.count("visit") == 2
    assert verdict(turn) == (Verdict.REFUTED, "date 12 March 2033 vs 12 March 2031 differs")


def test_a_picture_without_a_title_is_searched_by_its_looks():
    changes = {
        "ocr_with_position": "Rowan Hall\n12 March 2031",
        "reverse_image_search": "Harvest Gala\nhttps://harvest-gala.example/2031",
    }
    made, turn = investigate(changes)
    assert "text_search" not in made
    assert verdict(turn)[0] is Verdict.SUPPORTED


def test_reading_takes_nothing_for_granted():
    assert read_printed("no text found").date == ""
    assert read_printed("Rowan Hall, 12 March 2031") == ("", "12 March 2031", "Rowan Hall")
    assert read_page("the page refuses readers").date == ""
    assert read_rows("nothing found") == []
    assert read_kinds("photo: nobody") == []
    assert read_count("balloon: 12") == "12"
