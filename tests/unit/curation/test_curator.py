import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.agreement import objection
from components.curation.benchmark import make_cases, read_facts
from components.curation.build import WorldSummary
from components.curation.curator.desk import Desk
from components.curation.curator.proposal import Miss, Proposal, Topic
from components.curation.curator.research import research_topics
from components.curation.evidence import topic_of, topics_of
from components.curation.evidence_check import ensure_documented, find_violations
from components.curation.prepare import Prepared, prepare
from components.curation.render import gold_record, render
from components.curation.screen import Reason, Screen
from components.errors import EviflowError
from components.records.case import ErrorType, Gold
from components.records.image_bank import ImageBank
from components.records.web import Page
from components.tools.services import open_services
from components.world.entities import Event
from components.world.scenes import documented
from components.world.store import read_pages, write_pages


@pytest.fixture(scope="module")
def paths(small_world: tuple[Paths, WorldSummary]) -> Paths:
    return small_world[0]


@pytest.fixture(scope="module")
def prepared(small_params: Params, paths: Paths) -> Prepared:
    return prepare(read_facts(paths.facts), small_params, paths)


@pytest.fixture(scope="module")
def golds(small_params: Params, prepared: Prepared) -> list[Gold]:
    """Of every planned case, drawn once and not screened."""
    facts = prepared.facts
    drawn = [render(plan, 0, facts, small_params.world) for plan in prepared.plans]
    return [gold_record(candidate, prepared.research) for candidate in drawn]


def rewritten(paths: Paths, root: Path, change: Callable[[Page], Page | None]) -> Paths:
    """A copy of the checkout with other pages."""
    copy = Paths(root)
    shutil.copytree(paths.web, copy.web)
    pages = [change(page) for page in read_pages(paths.web)]
    write_pages(copy.web, [page for page in pages if page])
    return copy


def without(event: Event) -> Callable[[Page], Page | None]:
    return lambda page: None if page.url == event.official_url else page


def saying(event: Event, old: str, new: str) -> Callable[[Page], Page]:
    def change(page: Page) -> Page:
        text = page.markdown.replace(old, new)
        return page.model_copy(update={"markdown": text}) if page.url == event.official_url else page

    return change


def test_every_edition_is_proposed_as_it_is_documented(small_params: Params, paths: Paths, prepared: Prepared) -> None:
    facts, pages = prepared.facts, {page.url: page for page in read_pages(paths.web)}
    for topic, found in research_topics([topic_of(event) for event in facts.events], small_params, paths).items():
        event = next(event for event in facts.events if topic_of(event) == topic)
        assert (found.miss, found.canonical_url, found.picture_url) == (None, event.official_url, event.photo_url or "")
        assert found.page_title == pages[event.official_url].title
        assert len(found.statements) == 6
        for statement in found.statements:
            assert statement.value == documented(event, facts).as_printed(statement.attribute)
            assert statement.exact_span in event.sentences
            assert statement.exact_span in pages[found.canonical_url].markdown


def test_the_trail_says_what_was_asked_and_opened(prepared: Prepared) -> None:
    for topic, found in prepared.research.items():
        assert found.trail.queries == (topic.page_title,)
        assert found.trail.pages == (found.canonical_url,)
        assert found.trail.tool_calls == 2


def test_another_edition_and_news_are_not_the_record(small_params: Params, paths: Paths, prepared: Prepared) -> None:
    event = prepared.facts.main_events[0]
    wanted = Topic(title=event.title, year=1999), Topic(title="Nowhere Jubilee", year=event.year)
    other, unknown = research_topics(wanted, small_params, paths).values()
    assert (other.miss, other.canonical_url, other.statements) == (Miss.OTHER_EDITION, "", ())
    assert unknown.miss is Miss.NOT_FOUND
    assert other.trail.tool_calls == len(other.trail.queries) == 4


def test_a_page_of_the_right_name_with_another_date_is_not_the_record(
    small_params: Params, paths: Paths, prepared: Prepared, tmp_path: Path
) -> None:
    event = prepared.facts.main_events[0]
    changed = rewritten(paths, tmp_path, saying(event, event.date, f"{event.date[:-4]}1999"))
    (found,) = research_topics([topic_of(event)], small_params, changed).values()
    assert found.miss is Miss.OTHER_EDITION


def test_the_curator_has_an_investigators_limits_and_source_policy(small_params: Params, paths: Paths) -> None:
    async def use() -> tuple[list[bool], Desk]:
        async with open_services(small_params, paths, ImageBank(paths.work / "desk")) as services:
            desk = Desk(services, "topic", actions=2)
            calls = [
                ("visit", {"url": "https://factcheck-desk.example/anything"}),
                ("perceive_scene", {}),
                ("text_search", {"query": "gala"}),
                ("text_search", {"query": "gala "}),
                ("text_search", {"query": "market"}),
                ("text_search", {"query": "one too many"}),
            ]
            return [bool(await desk.use(tool, **arguments)) for tool, arguments in calls], desk

    answered, desk = asyncio.run(use())
    assert answered[:2] == [False, False]
    assert desk.trail.queries == ("gala", "market")
    assert desk.trail.tool_calls == 2


def test_gold_rests_on_the_proposal(golds: list[Gold], prepared: Prepared) -> None:
    for gold in golds:
        proposal = next(
            found for topic, found in prepared.research.items() if found.canonical_url in gold.official_urls
        )
        assert gold.provenance is not None
        assert set(proposal.trail.queries) <= set(gold.provenance.queries)
        assert set(gold.official_urls) == set(gold.provenance.pages)
        for check, evidence in zip(gold.checks, gold.acceptable_evidence, strict=False):
            assert check.documented in evidence.exact_span
            assert evidence.stance == ("supports" if check.holds else "refutes")


def test_a_recirculated_picture_is_traced_to_the_older_record(
    small_params: Params, paths: Paths, prepared: Prepared
) -> None:
    facts = prepared.facts
    plan = next(plan for plan in prepared.plans if plan.event.event_id in facts.twins)
    plan = replace(plan, error_type=ErrorType.EVENT_RECONTEXTUALIZATION)
    research = research_topics(topics_of([plan], facts), small_params, paths)
    assert objection(plan, facts, research) is None
    gold, twin = gold_record(render(plan, 0, facts, small_params.world), research), facts.twins[plan.event.event_id]
    assert gold.official_urls == (plan.event.official_url, twin.official_url)
    assert gold.acceptable_evidence[-1].canonical_url == twin.official_url
    assert twin.date in gold.acceptable_evidence[-1].exact_span


def test_a_case_without_a_proposal_is_dropped_with_the_reason(
    small_params: Params, paths: Paths, prepared: Prepared, tmp_path: Path
) -> None:
    plan = prepared.plans[0]
    changed = rewritten(paths, tmp_path, without(plan.event))
    found = prepare(prepared.facts, small_params, changed)
    assert objection(plan, prepared.facts, found.research) is Reason.NO_PROPOSAL
    alone = Prepared(found.facts, [plan], found.research)
    funnel = make_cases(alone, small_params, paths, Screen(), ImageBank(tmp_path / "bank")).screening()
    assert (funnel.planned, funnel.drawn, funnel.dropped, funnel.kept) == (1, 0, 1, 0)
    assert funnel.reasons == {Reason.NO_PROPOSAL: 1}


def test_a_proposal_that_says_something_else_is_no_ground_to_draw_on(
    small_params: Params, paths: Paths, prepared: Prepared, tmp_path: Path
) -> None:
    plan = prepared.plans[0]
    changed = rewritten(paths, tmp_path, saying(plan.event, plan.event.venue, "Elsewhere Hall"))
    found: Proposal = research_topics([topic_of(plan.event)], small_params, changed)[topic_of(plan.event)]
    research = {**prepared.research, found.topic: found}
    assert objection(plan, prepared.facts, prepared.research) is None
    assert objection(plan, prepared.facts, research) is Reason.PROPOSAL_DISAGREES


def test_evidence_is_read_again_and_stands(golds: list[Gold], small_params: Params, paths: Paths) -> None:
    assert find_violations(golds, small_params, paths) == []


def test_a_tampered_page_and_a_lost_one_are_named(
    golds: list[Gold], small_params: Params, paths: Paths, prepared: Prepared, tmp_path: Path
) -> None:
    first, second = (plan.event for plan in prepared.plans[:2])
    tampered = rewritten(paths, tmp_path / "tampered", saying(first, first.sentences[1], "The host was somebody."))
    found = find_violations(golds, small_params, tampered)
    assert {(item.canonical_url, item.exact_span) for item in found} == {(first.official_url, first.sentences[1])}
    assert {item.problem for item in found} == {"the page does not say so"}
    lost = rewritten(paths, tmp_path / "lost", without(second))
    with pytest.raises(EviflowError, match=f"the page is not there: {second.official_url}"):
        ensure_documented(golds, small_params, lost)
