"""Grounds of the details that only some events have, and of recirculated pictures."""

import pytest
from evaluation_doubles import OFFICIAL, PAGE, PHOTO, make_episode, make_gold, observe

from components.evaluation.judgment import Reason
from components.evaluation.rules_judge import judge
from components.records.case import DECISIVE_ATTRIBUTE, Attribute, Check, ErrorType, Gold, Verdict
from components.records.episode import Observation, Report

OLDER, OLDER_PHOTO = "https://harvest-gala.example/2029", "https://harvest-gala.example/2029.png"
PORTRAIT = "https://people.example/nora.png"
FOUND = observe("text_image_search", f"Nora Quinn, portrait\n{PORTRAIT}")


def gold_with(check: Check) -> Gold:
    """A case with one more check, refuted by it or supported."""
    kind = next(kind for kind, attribute in DECISIVE_ATTRIBUTE.items() if attribute is check.attribute)
    plain = make_gold()
    return plain.model_copy(
        update={
            "checks": (*plain.checks, check) if not check.holds else (check,),
            "factual_status": Verdict.SUPPORTED if check.holds else Verdict.REFUTED,
            "error_type": None if check.holds else ErrorType(kind),
            "official_urls": (OFFICIAL, OLDER),
        }
    )


def judged(check: Check, clause: str, *observations: Observation) -> Reason:
    gold = gold_with(check)
    cited = tuple(f"o{at}" for at, item in enumerate(observations, 1) if "search" not in item.tool)
    report = Report(verdict=gold.factual_status, explanation=clause, cited=cited)
    return judge(make_episode(list(observations), report), gold).reason


def page(sentence: str) -> Observation:
    return observe("visit", f"{sentence} {PAGE}", url=OFFICIAL)


GLANCE = "photo: one person on the left; repeated objects: balloon or lantern; action singing; sky rain; printed text"
PRINT = "Harvest Gala\nVisitors 2400\nMotto Silver Dawn\nPhoto Selby Post\nRowan Hall\n14 March 2031"


@pytest.mark.parametrize(
    ("attribute", "tool", "depicted", "documented", "sentence"),
    [
        (Attribute.SIDE, "perceive_scene", "left", "right", "The host stood on the right."),
        (Attribute.ACTION, "perceive_scene", "singing", "reading", "The host was reading for the public."),
        (Attribute.SKY, "perceive_scene", "rain", "rainbow", "The sky showed the rainbow."),
        (Attribute.VISITORS, "ocr_with_position", "2400", "2700", "The box office recorded 2700 visitors."),
        (Attribute.MOTTO, "ocr_with_position", "Silver Dawn", "Silver Path", "The motto was Silver Path."),
        (Attribute.SOURCE, "ocr_with_position", "Selby Post", "Selby Times", "Photographs are by Selby Times."),
    ],
)
def test_a_detail_must_be_seen_and_documented(
    attribute: Attribute, tool: str, depicted: str, documented: str, sentence: str
) -> None:
    check = Check(attribute=attribute, depicted=depicted, documented=documented)
    clause = f"{attribute} {depicted} vs {documented} differs"
    look = observe(tool, GLANCE if tool == "perceive_scene" else PRINT)
    other = observe("ocr_with_position" if tool == "perceive_scene" else "perceive_scene", look.text)
    assert judged(check, clause, look, page(sentence)) is Reason.GROUNDED
    assert judged(check, clause, other, page(sentence)) is Reason.NOT_SEEN
    assert judged(check, clause, observe(tool, "photo: nobody"), page(sentence)) is Reason.NOT_SEEN
    assert judged(check, clause, look, page("")) is Reason.NOT_DOCUMENTED


@pytest.mark.parametrize(("depicted", "answer"), [("Nora Quinn", "same person"), ("Tom Reed", "different person")])
def test_a_guest_is_told_by_a_portrait_that_was_found_under_the_name(depicted: str, answer: str) -> None:
    check = Check(attribute=Attribute.GUEST, depicted=depicted, documented="Nora Quinn")
    record, clause = page("Nora Quinn met the host on stage."), f"guest Nora Quinn {answer}"
    compared = observe("compare_with_reference", answer, url=PORTRAIT)
    group = observe("compare_with_reference", f"{answer}; same scene", url=PHOTO)
    assert judged(check, clause, FOUND, record, compared) is Reason.GROUNDED
    assert judged(check, clause, FOUND, record, group) is Reason.NOT_SEEN, "a group photograph says not who is who"


def test_a_recirculated_picture_needs_the_older_page_and_the_same_scene() -> None:
    check = Check(attribute=Attribute.PHOTO, depicted="2029", documented="2031")
    clause = "photo 2029 vs 2031 differs"
    older = observe("visit", f"Harvest Gala was held on 3 May 2029.\npicture: {OLDER_PHOTO}", url=OLDER)
    same = observe("compare_with_reference", "same person; same scene", url=OLDER_PHOTO)
    assert judged(check, clause, page(""), older, same) is Reason.GROUNDED
    assert judged(check, clause, page(""), same) is Reason.NOT_SEEN
    other = observe("compare_with_reference", "same person; different scene", url=OLDER_PHOTO)
    assert judged(check, clause, page(""), older, other) is Reason.NOT_SEEN
    wrong = observe("compare_with_reference", "same person; same scene", url=PHOTO)
    assert judged(check, clause, page(""), older, wrong) is Reason.NOT_SEEN


def test_the_records_own_photograph_supports_a_picture() -> None:
    check = Check(attribute=Attribute.PHOTO, depicted="2031", documented="2031")
    same = observe("compare_with_reference", "same person; same scene", url=PHOTO)
    assert judged(check, "photo 2031 vs 2031 same", page(""), same) is Reason.GROUNDED


def test_a_clause_on_what_picture_and_record_do_not_both_give_is_a_misstatement() -> None:
    check = Check(attribute=Attribute.SIDE, depicted="left", documented="right")
    clause = "side left vs right differs; sky rain vs rain same"
    look = observe("perceive_scene", GLANCE)
    assert judged(check, clause, look, page("The host stood on the right.")) is Reason.MISSTATED
