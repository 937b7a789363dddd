"""Every tool against the closed world: what it says, what it refuses, and how it fails."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from PIL import Image

from components.records.episode import FailureClass, Observation
from components.records.image_bank import ImageBank
from components.tools import messages

Use = Callable[[Sequence[tuple[str, dict[str, str]]]], list[Any]]
GALA = "https://harvest-gala.example/2031"
FACTS = "Harvest Gala was held on 12 March 2031 at Rowan Hall. Mara Venn was the host. 9 lanterns were on display."
PORTRAIT = "https://people.example/mara-venn.png"


def one(use: Use, name: str, **arguments: str) -> Any:
    return use([(name, arguments)])[0]


def payload(observation: Observation) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(observation.payload_json)
    return values


def test_a_glance_names_the_pair_and_never_the_kind_or_the_number(use: Use) -> None:
    seen = one(use, "perceive_scene")
    assert seen.text == "photo: one person on the right; repeated objects: balloon or lantern; printed text"
    assert payload(seen)["pair"] == ["balloon", "lantern"]


def test_printed_lines_come_in_reading_order_and_nothing_else(use: Use) -> None:
    seen = one(use, "ocr_with_position")
    assert seen.text == "Harvest Gala\nRowan Hall"
    region = payload(seen)["regions"][0]
    assert region["text"] == "Rowan Hall"
    assert all(0 <= side <= 1 for side in region["bbox"])


@pytest.mark.parametrize(
    ("target", "text"), [("lantern", "lantern: 9"), ("Lanterns", "lantern: 9"), ("kite", "kite: 0")]
)
def test_counting_says_kind_and_number_and_nought_is_an_answer(use: Use, target: str, text: str) -> None:
    seen = one(use, "count_objects", target_object=target)
    assert (seen.status, seen.text) == ("success", text)


def test_what_cannot_be_counted_is_refused(use: Use) -> None:
    assert one(use, "count_objects", target_object="dog") == "dog cannot be counted."


def test_a_search_shows_three_rows_and_no_fact_checks(use: Use) -> None:
    seen = one(use, "text_search", query="Harvest Gala 2031")
    assert f"Harvest Gala 2031\n{GALA}" in seen.text
    assert len(seen.text.splitlines()) == 6
    assert "factcheck" not in seen.text
    assert "snopes" not in seen.text.casefold()
    assert "factcheck" not in seen.payload_json
    assert payload(seen)["policy_filtered_count"] == 2


@pytest.mark.incident("CX-3")
def test_nothing_found_is_an_empty_result(use: Use) -> None:
    for name in ("text_search", "text_image_search"):
        seen = one(use, name, query="zebra")
        assert (seen.status, seen.failure, seen.text) == ("error", FailureClass.EMPTY_RESULT, "nothing found")


def test_what_only_blocked_sites_know_is_not_found(use: Use) -> None:
    seen = one(use, "text_search", query="altered pictures")
    assert seen.failure is FailureClass.EMPTY_RESULT
    assert payload(seen) == {"query": "altered pictures", "results": [], "policy_filtered_count": 1}


def test_an_image_search_shows_captions_and_addresses(use: Use) -> None:
    seen = one(use, "text_image_search", query="Mara Venn portrait")
    assert seen.text.splitlines()[:2] == ["Mara Venn, official portrait", PORTRAIT]
    assert "factcheck" not in one(use, "text_image_search", query="altered gala").text


def test_a_reverse_search_finds_the_official_page(use: Use) -> None:
    first, second = use([("reverse_image_search", {}), ("reverse_image_search", {})])
    assert first.text.splitlines()[:2] == ["Harvest Gala 2031", GALA]
    assert "factcheck" not in first.payload_json
    assert payload(first)["policy_filtered_count"] == 1
    assert second == messages.DUPLICATE


def test_a_visit_shows_the_passage_with_the_facts_and_the_picture(use: Use) -> None:
    seen = use([("text_search", {"query": "Harvest Gala"}), ("visit", {"url": GALA})])[1]
    assert seen.text == f"{FACTS}\npicture: {GALA}/photo.png"
    assert seen.source_url == GALA
    assert payload(seen)["passage_count"] == 3


@pytest.mark.parametrize("before", [[], [("ocr_with_position", {})], [("text_search", {"query": "who was the host"})]])
def test_the_facts_win_whatever_was_asked_before(use: Use, before: list[tuple[str, dict[str, str]]]) -> None:
    assert use([*before, ("visit", {"url": GALA})])[-1].text.startswith(FACTS)


def test_a_page_is_opened_once_however_it_is_spelled(use: Use) -> None:
    first, *again = use([("visit", {"url": url}) for url in (GALA, GALA, f"{GALA}/", GALA.replace("https", "http"))])
    assert first.succeeded
    assert again == [messages.VISITED] * 3


@pytest.mark.parametrize(
    "url",
    [
        "https://factcheck-desk.example/gala",
        "https://web.archive.org/web/2031/https://factcheck-desk.example/gala",
        "https://i0.wp.com/www.snopes.com/x.png",
    ],
)
def test_blocked_sites_cannot_be_opened(use: Use, url: str) -> None:
    assert one(use, "visit", url=url) == messages.BLOCKED_URL
    assert one(use, "compare_with_reference", reference_url=url) == messages.BLOCKED_URL


def test_queries_that_name_a_blocked_site_are_refused(use: Use) -> None:
    for name in ("text_search", "text_image_search"):
        assert one(use, name, query="harvest gala fact check") == messages.BLOCKED_QUERY


@pytest.mark.parametrize("url", ["harvest-gala.example/2031", "ftp://a.example/1", "https://", "https://a b.example/"])
def test_what_is_no_address_is_refused(use: Use, url: str) -> None:
    assert one(use, "visit", url=url) == messages.NOT_A_URL


@pytest.mark.parametrize("url", [f"{GALA}/nothing", "https://nowhere.example/1"])
def test_a_missing_page_reads_as_missing(use: Use, url: str) -> None:
    seen = one(use, "visit", url=url)
    assert (seen.failure, seen.text, seen.source_url) == (FailureClass.EMPTY_RESULT, messages.NOT_THERE, url)


def test_a_captcha_is_no_content(use: Use) -> None:
    seen = one(use, "visit", url="https://wall.example/1")
    assert (seen.failure, seen.text) == (FailureClass.INFRASTRUCTURE, messages.BLOCKED_PAGE)


@pytest.mark.incident("CX-3")
def test_a_page_without_text_is_an_empty_result(use: Use) -> None:
    seen = one(use, "visit", url="https://empty.example/1")
    assert (seen.failure, seen.text) == (FailureClass.EMPTY_RESULT, messages.NO_PAGE_TEXT)


def test_instructions_on_a_page_are_dropped_and_counted(use: Use) -> None:
    search, seen = use([("text_search", {"query": "simmer"}), ("visit", {"url": "https://soup.example/1"})])
    assert search.succeeded
    assert seen.text.splitlines()[0] == "Let it simmer."
    assert "readers" not in seen.payload_json
    assert payload(seen)["dropped_instructions"] == 1


def test_a_long_page_is_cut_to_the_limit(use: Use) -> None:
    seen = one(use, "visit", url="https://long.example/1")
    assert 500 < len(seen.text) <= 700
    assert seen.text.endswith("Rowan Hall is old.")


@pytest.mark.parametrize(
    ("url", "text", "query"),
    [
        (PORTRAIT, "same person", "Mara Venn"),
        ("https://people.example/other.png", "different person", "another person"),
    ],
)
def test_a_comparison_says_same_or_different_and_shows_the_reference(
    use: Use, bank: ImageBank, url: str, text: str, query: str
) -> None:
    calls = [("text_image_search", {"query": query}), *[("compare_with_reference", {"reference_url": url})] * 2]
    _, seen, again = use(calls)
    assert (seen.text, seen.source_url) == (text, url)
    assert bank.open(seen.images[0]).size == (160, 160)
    assert again == messages.COMPARED


def test_the_picture_of_an_opened_page_may_be_compared(use: Use) -> None:
    calls = [("visit", {"url": GALA}), ("compare_with_reference", {"reference_url": f"{GALA}/photo.png"})]
    assert use(calls)[1].text == "same person; same scene"


def test_only_offered_pictures_may_be_compared(use: Use) -> None:
    assert one(use, "compare_with_reference", reference_url=PORTRAIT) == messages.NOT_OFFERED


def test_a_picture_without_a_person_is_not_comparable_and_no_evidence(use: Use) -> None:
    url = "https://soup.example/soup.png"
    seen = use([("text_image_search", {"query": "soup"}), ("compare_with_reference", {"reference_url": url})])[1]
    assert (seen.status, seen.failure, seen.text) == ("error", FailureClass.EMPTY_RESULT, "not comparable")
    assert len(seen.images) == 1


@pytest.mark.parametrize("name", ["huge", "torn"])
def test_a_picture_that_cannot_be_opened_is_a_failure_and_not_empty(use: Use, name: str) -> None:
    url = f"https://soup.example/{name}.png"
    calls = [("text_image_search", {"query": f"{name} soup"}), ("compare_with_reference", {"reference_url": url})]
    seen = use(calls)[1]
    assert (seen.status, seen.failure, seen.text) == ("error", FailureClass.INFRASTRUCTURE, messages.BAD_PICTURE)


def test_a_crop_is_enlarged_and_read(use: Use, bank: ImageBank) -> None:
    whole, corner = use([("crop_and_inspect", {"bbox": box}) for box in ("0,0,1,1", "0.5, 0.5, 0.75, 0.6")])
    assert whole.text == "Harvest Gala\nRowan Hall"
    assert corner.text == "no text"
    assert corner.status == "success"
    shown: Image.Image = bank.open(corner.images[0])
    assert max(shown.size) >= 192
    assert shown.width / shown.height == pytest.approx(80 / 24, rel=0.05)


@pytest.mark.parametrize(
    "box",
    [
        "",
        "0,0,1",
        "a,b,c,d",
        "0,0,0,1",
        "0.5,0,0.4,1",
        "-0.1,0,1,1",
        "0,0,1.2,1",
        "nan,0,1,1",
        "0,0,0.001,1",
        "0,0,inf,1",
    ],
)
def test_a_box_that_is_none_is_refused(use: Use, box: str) -> None:
    assert one(use, "crop_and_inspect", bbox=box) == messages.BAD_BOX


def test_limits_hold_per_tool(use: Use) -> None:
    answers = use([("ocr_with_position", {})] * 4)
    assert [isinstance(answer, Observation) for answer in answers] == [True, True, True, False]
    assert answers[3] == "ocr_with_position is not available now."


@pytest.mark.incident("CI-1")
def test_two_pictures_never_share_an_answer(use_on: Callable[[bytes], Use], picture: bytes, other: bytes) -> None:
    """The same tool with the same visible arguments, and another picture: another answer."""
    calls = [("perceive_scene", {}), ("count_objects", {"target_object": "lantern"}), ("reverse_image_search", {})]
    first, second = use_on(picture)(calls), use_on(other)(calls)
    assert all(left.text != right.text for left, right in zip(first, second, strict=True))
    assert [seen.text for seen in use_on(picture)(calls)] == [seen.text for seen in first]
