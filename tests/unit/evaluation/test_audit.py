import json

import pytest
from evaluation_doubles import OFFICIAL, good_episode, make_episode, observe, seen_in

from components.evaluation.audit import audit
from components.records.episode import Episode, FailureClass, Observation, StepKind, ToolCall
from components.tools import messages
from components.tools.source_policy import SourcePolicy

POST = "https://circles.example/posts/7"
SOURCES = SourcePolicy(excluded=frozenset({POST}))
EMPTY = observe("visit", "nothing found", url=OFFICIAL, failure=FailureClass.EMPTY_RESULT)
OUTAGE = observe("visit", "the page reader is out of service", failure=FailureClass.INFRASTRUCTURE)


def found(episode: Episode) -> list[tuple[str, bool, int | None]]:
    return [(item.reason, item.fatal, item.step) for item in audit(episode, SOURCES)]


def also(*extra: Observation, first: bool = True) -> Episode:
    """A good episode with further observations, before the others or after them."""
    seen = [*extra, *seen_in("date")] if first else [*seen_in("date"), *extra]
    return make_episode(seen, good_episode("date").report)


def called(tool: str, arguments: dict[str, object], payload: dict[str, object] | None = None) -> Episode:
    """A good episode whose first call is this one."""
    item = observe(tool, "found").model_copy(update={"payload_json": json.dumps(payload or {})})
    episode = also(item)
    call = ToolCall(name=tool, arguments_json=json.dumps(arguments))
    first = episode.steps[0].model_copy(update={"call": call})
    return episode.model_copy(update={"steps": (first, *episode.steps[1:])})


def refused(sentence: str) -> Episode:
    episode = good_episode("date", corrections=1)
    steps = [
        step.model_copy(update={"feedback": sentence}) if step.kind is StepKind.CORRECTION else step
        for step in episode.steps
    ]
    return episode.model_copy(update={"steps": tuple(steps)})


def test_a_good_episode_has_nothing_to_note() -> None:
    assert found(good_episode("date")) == []


def test_refusals_and_failures_that_were_recovered_from_are_noted_only() -> None:
    assert found(refused(messages.DUPLICATE)) == [("audit:protocol_correction", False, 5)]
    assert found(also(EMPTY, OUTAGE)) == [("audit:recovered_failure", False, 0), ("audit:recovered_failure", False, 1)]
    assert found(also(EMPTY, first=False)) == [("audit:unrecovered_failure", False, 5)]
    cached = observe("perceive_scene", "photo").model_copy(update={"cache_hit": True})
    assert found(also(cached)) == [("audit:cache_hit", False, 0)]


@pytest.mark.parametrize(
    "item",
    [
        observe("visit", "text").model_copy(update={"status": "done"}),
        observe("visit", "text").model_copy(update={"failure": FailureClass.EMPTY_RESULT}),
        observe("visit", "text").model_copy(update={"status": "error"}),
        observe("visit", " ", failure=FailureClass.INFRASTRUCTURE),
        observe("visit", "bad arguments", failure=FailureClass.MODEL),
    ],
)
def test_a_tool_that_breaks_its_contract_is_an_engineering_fault(item: Observation) -> None:
    assert ("audit:engineering", True, 0) in found(also(item))


@pytest.mark.parametrize("sentence", [messages.BLOCKED_URL, messages.BLOCKED_QUERY])
def test_asking_for_a_forbidden_source_is_a_violation_even_when_refused(sentence: str) -> None:
    assert found(refused(sentence)) == [("audit:policy_violation", True, 5)]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("text_search", {"query": "Harvest Gala fact check"}),
        ("text_search", {"query": "is the Harvest Gala picture fake"}),
        ("text_search", {"query": "misleading claim about Mara Venn"}),
        ("text_search", {"queries": ["harvest gala", "hoax photo"]}),
        ("text_search", {"query": "harvest gala", "goal": "find the false story"}),
        ("visit", {"url": "https://search.example/?q=fake%20news+gala"}),
    ],
)
def test_asking_for_a_ready_made_verdict_is_a_violation(tool: str, arguments: dict[str, object]) -> None:
    assert found(called(tool, arguments)) == [("audit:policy_violation", True, 0)]


@pytest.mark.parametrize(
    "query",
    [
        "Harvest Gala 2031",
        "False Harbor pictures",
        "the news of Fakenham",
        "hoaxley image gallery",
        "news: false alarm at the station",
        "real stories, fake plants",
    ],
)
def test_an_ordinary_query_is_none(query: str) -> None:
    assert found(called("text_search", {"query": query})) == []


@pytest.mark.parametrize(
    ("arguments", "payload"),
    [
        ({"url": "https://snopes.example/gala"}, {}),
        ({"url": POST}, {}),
        ({"url": f"https://web.archive.org/web/2031/{POST}"}, {}),
        ({}, {"results": [{"title": "Gala", "link": "https://factcheck.example/gala"}]}),
        ({}, {"pictures": [OFFICIAL, POST]}),
    ],
)
def test_an_address_that_is_out_of_bounds_is_found_wherever_it_stands(
    arguments: dict[str, object], payload: dict[str, object]
) -> None:
    assert found(called("visit", arguments, payload)) == [("audit:source_access", True, 0)]


def test_what_a_page_says_of_such_a_source_is_no_access_to_it() -> None:
    said = {"passages": ["As https://snopes.example/gala has it, the gala took place."]}
    assert found(called("visit", {"url": OFFICIAL}, said)) == []


def test_an_opened_address_and_a_redirect_count_too() -> None:
    opened = observe("visit", "text", url=POST)
    redirected = observe("visit", "the page leads to a blocked site", failure=FailureClass.POLICY)
    assert ("audit:source_access", True, 0) in found(also(opened))
    assert ("audit:source_access", True, 0) in found(also(redirected))
