import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from components.config.paths import Paths
from components.config.schema import BenchmarkParams, Params, WorldParams
from components.curation.benchmark import read_facts
from components.curation.build import build_world
from components.curation.collecting.collect import Collection, collect
from components.curation.collecting.find import Found, posts_on
from components.curation.collecting.portraits import Portraits
from components.curation.collecting.sources import recover_sources
from components.curation.evidence import topic_of, topics_of
from components.curation.prepare import prepare
from components.curation.references import References
from components.curation.render import as_posted, checks_of, gold_record
from components.curation.screen import Reason, Screen
from components.records.case import Attribute, ErrorType, Route, Verdict
from components.records.web import Page
from components.world.entities import Facts
from components.world.store import read_pages, write_pages

pytestmark = pytest.mark.slow
"""Printed text is read with real OCR."""

PARAMS = Params(world=WorldParams(train_events=14, test_events=6, circulating_share=1.0))


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    paths = Paths(tmp_path_factory.mktemp("circulating"))
    build_world(PARAMS, paths)
    return paths


@pytest.fixture(scope="module")
def facts(paths: Paths) -> Facts:
    return read_facts(paths.facts)


@pytest.fixture(scope="module")
def found(paths: Paths, facts: Facts) -> list[Found]:
    recovered = recover_sources(posts_on(paths.web), PARAMS, paths)
    assert len(recovered) == len(facts.circulating) == 20
    return [one for one in recovered if isinstance(one, Found)]


def collected(paths: Paths, facts: Facts) -> Collection:
    screen = Screen()
    return collect(facts, PARAMS, paths, screen)


def rewritten(paths: Paths, root: Path, change: Callable[[Page], Page | None]) -> Paths:
    """A copy of the checkout with other pages."""
    copy = Paths(root)
    shutil.copytree(paths.web, copy.web)
    shutil.copytree(paths.cache, copy.cache)
    pages = [change(page) for page in read_pages(paths.web)]
    write_pages(copy.web, [page for page in pages if page])
    return copy


def test_the_source_of_nearly_every_post_is_recovered_and_is_the_true_one(facts: Facts, found: list[Found]) -> None:
    assert len(found) >= 18
    for one in found:
        truth = facts.post[one.post.page_url]
        assert one.topic == topic_of(facts.event[truth.event_id])
        assert one.error_type == truth.error_type
        assert one.post.image_url == truth.image_url
        assert one.post.posted == truth.posted
        assert one.recovered_by == ("title" if truth.titled else "picture")
    assert {one.recovered_by for one in found} == {"title", "picture"}
    assert len({one.error_type for one in found}) > 8


def test_no_post_is_opened_on_the_way(facts: Facts, found: list[Found]) -> None:
    official = {event.official_url for event in facts.events}
    for one in found:
        assert set(one.trail.pages) <= official
        assert one.trail.tool_calls <= PARAMS.agent.action_budget


def test_somebody_else_in_the_picture_is_told_by_name(paths: Paths, facts: Facts) -> None:
    portraits, references = Portraits(paths.web), References(facts, paths.web)
    event = next(event for event in facts.photographed if event.detail.attribute is not Attribute.GUEST)
    photo = references.photo(event)
    assert photo is not None
    assert portraits.told(photo) == {facts.person[event.host_id].name}


def test_gold_tells_where_from_and_rests_on_the_record(paths: Paths, facts: Facts) -> None:
    collection = collected(paths, facts)
    assert collection.web is not None
    assert len(collection.offered) + sum(map(len, collection.rejected.values())) == 20
    prepared = prepare(
        facts, PARAMS.model_copy(update={"benchmark": BenchmarkParams(web_share=0.5)}), paths, collection
    )
    plans = [plan for plan in prepared.plans if plan.found]
    assert len(plans) >= 10
    for plan in plans:
        assert plan.found is not None
        truth = facts.post[plan.found.post.page_url]
        data = collection.web.read(plan.found.post.sha256)
        candidate = as_posted(plan, truth, data, facts, PARAMS.world)
        gold = gold_record(candidate, prepared.research)
        assert candidate.data == data
        assert gold.route == Route.WEB
        assert (gold.construction, gold.image_origin) == (None, "circulating")
        assert gold.checks == checks_of(candidate) == plan.found.checks
        assert gold.error_type is truth.error_type
        assert (gold.factual_status is Verdict.SUPPORTED) is (truth.error_type is None)
        assert gold.provenance is not None
        assert gold.provenance.source is not None
        assert gold.provenance.source.addresses == (truth.post_url, truth.image_url)
        assert not set(gold.official_urls) & set(gold.provenance.source.addresses)
        recirculated = gold.error_type is ErrorType.EVENT_RECONTEXTUALIZATION
        assert len(gold.official_urls) == 1 + recirculated
        assert {topic.page_title for topic in topics_of([plan], facts)} >= {plan.found.topic.page_title}


def test_a_post_whose_event_has_no_record_is_not_collected(
    paths: Paths, facts: Facts, found: list[Found], tmp_path: Path
) -> None:
    event = facts.event[facts.post[found[0].post.page_url].event_id]
    lost = rewritten(paths, tmp_path, lambda page: None if page.url == event.official_url else page)
    assert recover_sources([found[0].post], PARAMS, lost) == [Reason.SOURCE_NOT_FOUND]


def test_what_the_world_knows_better_is_not_collected(
    paths: Paths, facts: Facts, found: list[Found], tmp_path: Path
) -> None:
    true = next(one for one in found if one.error_type is None)
    event = facts.event[facts.post[true.post.page_url].event_id]

    def elsewhere(page: Page) -> Page:
        text = page.markdown.replace(event.venue, "Elsewhere Hall")
        return page.model_copy(update={"markdown": text}) if page.url == event.official_url else page

    changed = rewritten(paths, tmp_path, elsewhere)
    (deceived,) = recover_sources([true.post], PARAMS, changed)
    assert isinstance(deceived, Found)
    assert deceived.error_type is ErrorType.GEOGRAPHIC_DISPLACEMENT
    collection = collected(changed, facts)
    assert [Reason.SOURCE_MISMATCH] in collection.rejected[event.split]
    assert true.post not in [plan.found.post for plan in collection.offered if plan.found]


def test_a_share_of_nothing_collects_nothing(paths: Paths, facts: Facts) -> None:
    none = PARAMS.model_copy(update={"benchmark": BenchmarkParams(web_share=0)})
    screen = Screen()
    assert collect(facts, none, paths, screen) == Collection()
