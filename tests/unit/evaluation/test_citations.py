import json

import pytest
from evaluation_doubles import ALL_CITED, OFFICIAL, good_episode, make_episode, observe, seen_in

from components.evaluation.citations import citations, material
from components.evaluation.masking import masked
from components.records.episode import Episode, FailureClass, Observation, Report, ToolCall
from components.tools import messages

FAILED = observe("visit", "nothing found", url=OFFICIAL, failure=FailureClass.EMPTY_RESULT)


def citing(cited: tuple[str, ...], *extra: Observation) -> Episode:
    """An episode that cites these; extra observations are o6, o7, ..."""
    report = Report(verdict="refuted", explanation="x", cited=cited)  # type: ignore[arg-type]
    return masked(make_episode([*seen_in("date"), *extra], report))


def found(episode: Episode) -> list[tuple[str, int | None]]:
    return [(item.reason, item.step) for item in citations(episode)]


def test_evidence_that_was_observed_may_be_cited() -> None:
    assert found(masked(good_episode("date"))) == []


@pytest.mark.incident("CX-4")
def test_an_id_that_no_earlier_message_shows_is_refused() -> None:
    assert found(citing((*ALL_CITED, "o9"))) == [("citations:invalid_evidence", None)]
    episode = masked(good_episode("date"))
    assert found(episode.model_copy(update={"steps": episode.steps[1:]})) == [("citations:invalid_evidence", None)]


@pytest.mark.parametrize(
    ("cited", "expected"),
    [
        ((), ("citations:invalid_evidence", None)),
        (("o1", "o1"), ("citations:invalid_evidence", None)),
        (("o1", "o3"), ("citations:invalid_evidence", 2)),
        (("o1", "o6"), ("citations:evidence_call_not_successful", 5)),
        (("o1", "o7"), ("citations:invalid_evidence", 6)),
        (("o1", "o8"), ("citations:invalid_evidence", 7)),
        (("o1", "o9"), ("citations:invalid_evidence", 8)),
    ],
    ids=["nothing", "twice", "a search result", "a failure", "the time", "a masked turn", "nothing in it"],
)
def test_each_kind_of_bad_citation_is_named(cited: tuple[str, ...], expected: tuple[str, int | None]) -> None:
    extra = [FAILED, observe("current_time", "noon"), observe("count_objects", "kite: 0"), observe("visit", " ")]
    assert found(citing(cited, *extra)) == [expected]


CALL = ToolCall(name="visit", arguments_json='{"url": "https://a.example/", "question": "when?"}')


@pytest.mark.incident("CX-3")
@pytest.mark.parametrize(
    ("text", "payload", "says"),
    [
        ("the page", {}, True),
        ("kite: 0", {"count": 0}, True),
        ("the page", {"url": "https://a.example/", "passages": ["It took place."]}, True),
        (" \n\t", {"passages": ["It took place."]}, False),
        (messages.NOTHING_FOUND, {}, False),
        ("No text found", {}, False),
        ("results:", {"results": []}, False),
        ("results:", {"results": [{"title": " ", "link": None}]}, False),
        ("a note", {"note": "the service is slow"}, False),
        ("asked", {"url": "https://a.example/", "question": "when?", "status": "success"}, False),
    ],
)
def test_a_success_that_says_nothing_is_no_evidence(text: str, payload: dict[str, object], says: bool) -> None:
    item = observe("visit", text).model_copy(update={"payload_json": json.dumps(payload)})
    assert material(item, CALL) is says
