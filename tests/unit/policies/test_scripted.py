import json

import pytest

from components.agent.codec import parse_turn
from components.policies.reading import read_count, read_glance, read_kinds, read_page, read_printed, read_rows
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
    "compare_with_reference": "same person; same scene",
    "reverse_image_search": "Harvest Gala\nhttps://harvest-gala.example/2031",
}


def turns_of(changes: dict[str, object], seed: int = 0) -> list[Message]:
    """Play an investigation against fixed answers; gives the policy's turns."""
    answers = ANSWERS | changes
    tools = tuple(ToolSchema(name, "", {}) for name in NAMES)
    messages = [Message("system", "s"), Message("user", "q", images=("0" * 64,))]
    turns: list[Message] = []
    stage = "investigate"
    while True:
        conversation = Conversation(tuple(messages), tools, tools, stage, seed)
        turns.append(Message("assistant", ScriptedTeacher().act([conversation])[0].text))
        if stage == "report":
            return turns
        call = parse_turn(turns[-1].text).call
        assert call is not None
        messages.append(turns[-1])
        if call.name == "finish_investigation":
            stage = "report"
            messages.append(Message("user", "Report now."))
            continue
        answer = answers[call.name]
        if isinstance(answer, dict):
            answer = answer[next(iter(json.loads(call.arguments_json).values()))]
        messages.append(Message("tool", f"o{len(turns)}\n{answer}", observation_id=f"o{len(turns)}"))


def investigate(changes: dict[str, object], seed: int = 0) -> tuple[list[str], Message]:
    """The calls made in an investigation, and its last turn."""
    turns = turns_of(changes, seed)
    calls = [parse_turn(turn.text).call for turn in turns[:-1]]
    return [call.name for call in calls if call], turns[-1]


def verdict(turn: Message) -> tuple[Verdict, str]:
    report = parse_turn(turn.text).report
    assert report is not None
    return report.verdict, report.explanation


def test_agreement_is_reported_only_after_every_detail_was_checked():
    made, turn = investigate({})
    assert set(made) >= {"count_objects", "visit", "compare_with_reference"}
    assert verdict(turn) == (
        Verdict.SUPPORTED,
        "date 12 March 2031 vs 12 March 2031 same; venue Rowan Hall vs Rowan Hall same; count 9 vs 9 same; "
        "host Mara Venn same person; photo 2031 vs 2031 same",
    )


@pytest.mark.parametrize(
    ("changes", "explanation"),
    [
        (
            {"ocr_with_position": "Harvest Gala\nRowan Hall\n5 June 2031"},
            "date 5 June 2031 vs 12* March* 2031 differs",
        ),
        ({"ocr_with_position": "Harvest Gala\nOak Pier\n12 March 2031"}, "venue Oak Pier vs Rowan* Hall* differs"),
        ({"count_objects": {"lantern": "lantern: 7", "balloon": "balloon: 0"}}, "count 7 vs 9* differs"),
        ({"compare_with_reference": "different person; same scene"}, "host Mara Venn different person"),
    ],
)
def test_one_contradiction_refutes_and_is_named(changes, explanation):
    assert verdict(investigate(changes)[1]) == (Verdict.REFUTED, explanation)


RECORD = "Harvest Gala was held on 12 March 2031 at Rowan Hall. Mara Venn was the host. Visitors saw 9 lanterns."
PHOTO = "picture: https://harvest-gala.example/2031/photo.png"
OLDER = "https://harvest-gala.example/2029"


def visits(record: str) -> dict[str, object]:
    """Pages of one event whose record, and of an older edition whose photograph, can be opened."""
    older = "Harvest Gala was held on 3 May 2029 at Oak Park. Mara Venn was the host. Visitors saw 9 lanterns."
    pages = {"https://harvest-gala.example/2031": record, OLDER: f"{older}\npicture: {OLDER}/photo.png"}
    return {"visit": pages, "text_search": "Harvest Gala\nhttps://harvest-gala.example/2031"}


@pytest.mark.parametrize(
    ("printed", "glance", "sentence", "clause"),
    [
        ("Visitors 2400", "", "The box office recorded 2700 visitors.", "visitors 2400 vs 2700* differs"),
        (
            "Motto Silver Dawn",
            "",
            "The banner bore the motto Silver Path.",
            "motto Silver Dawn vs Silver Path* differs",
        ),
        (
            "Photo Selby Post",
            "",
            "Only photographs by Selby Times are official.",
            "source Selby Post vs Selby Times* differs",
        ),
        ("", "action singing", "The host was reading for the public.", "action singing vs reading* differs"),
        ("", "sky rainbow", "Above the site, the sky showed the sun.", "sky rainbow vs sun* differs"),
        ("", "", "The place of the host was on the right.", "side left vs right* differs"),
    ],
)
def test_each_detail_of_an_event_is_compared(printed, glance, sentence, clause):
    seen = f"photo: one person on the left; repeated objects: balloon or lantern; {glance}; printed text"
    read = "\n".join(line for line in ("Harvest Gala", printed, "Rowan Hall", "12 March 2031") if line)
    changes = visits(f"{RECORD} {sentence}\n{PHOTO}") | {"perceive_scene": seen, "ocr_with_position": read}
    assert verdict(investigate(changes)[1]) == (Verdict.REFUTED, clause)


@pytest.mark.parametrize("answer", ["same person", "different person"])
def test_who_met_the_host_is_told_by_a_portrait_found_under_the_name(answer):
    portrait = "https://people.example/nora-quinn/portrait.png"
    changes = visits(f"{RECORD} Nora Quinn met the host on stage.\n{PHOTO}") | {
        "text_image_search": f"Portrait of Nora Quinn\n{portrait}",
        "compare_with_reference": {PHOTO.removeprefix("picture: "): "same person; same scene", portrait: answer},
    }
    found = verdict(investigate(changes)[1])
    assert f"guest Nora Quinn {answer}" in found[1]
    assert found[0] is (Verdict.SUPPORTED if answer == "same person" else Verdict.REFUTED)


@pytest.mark.parametrize("photo", [f"\n{PHOTO}", ""], ids=["photographed", "nobody photographed it"])
def test_a_recirculated_picture_is_found_by_reverse_search(photo):
    changes = visits(RECORD + photo) | {
        "reverse_image_search": f"Harvest Gala 2029\n{OLDER}",
        "compare_with_reference": {
            PHOTO.removeprefix("picture: "): "same person; different scene",
            "https://people.example/mara-venn/portrait.png": "same person",
            f"{OLDER}/photo.png": "same person; same scene",
        },
    }
    made, turn = investigate(changes)
    assert verdict(turn) == (Verdict.REFUTED, "photo 2029 vs 2031* differs")
    assert ("text_image_search" in made) is not bool(photo)
    report = parse_turn(turn.text).report
    assert report is not None
    assert len(report.cited) == 3


def test_pages_with_similar_pictures_are_compared_down_to_the_first_that_is_not_the_record():
    rows = "\n".join(f"Harvest Gala {year}\nhttps://harvest-gala.example/{year}" for year in (2031, 2029, 2028))
    changes = visits(RECORD) | {"text_search": rows, "reverse_image_search": rows}
    thoughts = [parse_turn(turn.text).thought for turn in turns_of(changes)]
    note = next(thought for thought in thoughts if "title Harvest Gala 2031 vs" in thought)
    same, other = "title Harvest Gala 2031 vs Harvest Gala 2031 same", "title Harvest Gala 2031 vs Harvest Gala 2029*"
    assert f"{same}; {other} differs. open Harvest Gala 2029." in note


def test_before_another_edition_is_opened_the_titles_are_compared():
    rows = "\n".join(f"Harvest Gala {year}\nhttps://harvest-gala.example/{year}" for year in (2034, 2031))
    turns = [turn for seed in range(2) for turn in turns_of({"text_search": rows}, seed)]
    note = next(turn.text for turn in turns if "another edition" in turn.text)
    opened, other = "title Harvest Gala 2034 vs Harvest Gala 2034 same", "title Harvest Gala 2034 vs Harvest Gala 2031*"
    assert f"another edition. {opened}; {other} differs. open Harvest Gala 2031." in note


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
    assert verdict(turn) == (Verdict.REFUTED, "date 12 March 2033 vs 12 March 2031* differs")


def test_where_only_other_editions_were_found_the_year_is_searched_for():
    rows = {
        "Harvest Gala": "Harvest Gala 2034\nhttps://harvest-gala.example/2034",
        "Harvest Gala 2031": "Harvest Gala 2031\nhttps://harvest-gala.example/2031",
    }
    made, turn = investigate({"text_search": rows})
    assert made.count("text_search") == 2
    assert verdict(turn)[0] is Verdict.SUPPORTED


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
    assert read_printed("Rowan Hall, 12 March 2031")[:3] == ("", "12 March 2031", "Rowan Hall")
    assert read_page("the page refuses readers").details == {}
    assert read_glance("photo: no person") == {}
    assert read_page("the page refuses readers").date == ""
    assert read_rows("nothing found") == []
    assert read_kinds("photo: nobody") == []
    assert read_count("balloon: 12") == "12"


def test_posts_are_left_alone():
    post = "@night-owl on Chirp\nhttps://chirp.example/night-owl/170000002"
    record = "Harvest Gala\nhttps://harvest-gala.example/2031"
    untitled = {"ocr_with_position": "Rowan Hall\n12 March 2031", "reverse_image_search": f"{post}\n{record}"}
    made, turn = investigate(untitled)
    assert made.count("visit") == 1
    assert verdict(turn)[0] is Verdict.SUPPORTED
    compared = investigate({"compare_with_reference": "same person", "reverse_image_search": f"{post}\n{record}"})
    assert verdict(compared[1])[0] is Verdict.SUPPORTED
