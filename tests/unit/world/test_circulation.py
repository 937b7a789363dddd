import re
from collections import Counter

import pytest

from components.config.schema import WorldParams
from components.records.case import Attribute, ErrorType, Split
from components.records.web import Page, SiteKind
from components.world.altering import possible
from components.world.circulation import circulating_picture
from components.world.entities import Circulating, Facts
from components.world.facts import build_facts
from components.world.pages import build_pages
from components.world.scenes import documented
from components.world.styles import STYLES_BY_SPLIT

PARAMS = WorldParams()


@pytest.fixture(scope="module")
def facts() -> Facts:
    return build_facts(PARAMS)


def of_split(facts: Facts, split: Split) -> list[Circulating]:
    return [post for post in facts.circulating if facts.event[post.event_id].split is split]


def test_a_share_of_events_has_one_post_and_every_type_as_often(facts: Facts) -> None:
    assert len({post.event_id for post in facts.circulating}) == len(facts.circulating)
    for split, events in ((Split.TRAIN, 240), (Split.TEST, 60)):
        counts = Counter(post.error_type for post in of_split(facts, split))
        assert counts.total() == events / 2
        assert counts.pop(None) == round(0.3 * events / 2)
        assert set(counts) == set(ErrorType)
        assert max(counts.values()) - min(counts.values()) <= 1


def test_the_rest_of_the_world_is_the_same_however_much_circulates(facts: Facts) -> None:
    still = build_facts(PARAMS.model_copy(update={"circulating_share": 0.0}))
    assert still.circulating == ()
    assert (still.people, still.events) == (facts.people, facts.events)
    assert build_facts(PARAMS) == facts


def test_a_picture_departs_from_the_record_in_what_its_type_says_and_nothing_else(facts: Facts) -> None:
    for post in facts.circulating:
        event = facts.event[post.event_id]
        shown, scene = circulating_picture(post, facts, PARAMS)
        assert (shown == documented(event, facts)) is (post.error_type is None)
        assert post.error_type is None or post.error_type in possible(event, facts)
        assert scene.title == (event.title if post.titled else None)
        assert scene.style != event.style
        assert scene.style in STYLES_BY_SPLIT[event.split]


def test_as_many_true_as_altered_pictures_lack_a_title(facts: Facts) -> None:
    for true in (True, False):
        of_kind = [post for post in facts.circulating if (post.error_type is None) is true]
        assert 0.1 < sum(not post.titled for post in of_kind) / len(of_kind) < 0.2
    bare = [post for post in facts.circulating if not post.titled]
    assert all(facts.event[post.event_id].photo_url for post in bare)


def test_addresses_are_unique_and_tell_nothing(facts: Facts) -> None:
    addresses = {url for post in facts.circulating for url in (post.post_url, post.image_url)}
    assert len(addresses) == 2 * len(facts.circulating)
    for post in facts.circulating:
        assert re.fullmatch(r"https://chirp\.example/[a-z-]+/\d{9}", post.post_url)
        assert post.image_url == f"{post.post_url}/picture.png"


@pytest.fixture(scope="module")
def small() -> tuple[Facts, dict[str, Page]]:
    facts = build_facts(WorldParams(train_events=14, test_events=6, circulating_share=1.0))
    return facts, {page.url: page for page in build_pages(facts)}


def test_the_post_names_the_event_and_says_nothing_that_the_picture_says(small: tuple[Facts, dict[str, Page]]) -> None:
    facts, pages = small
    assert len(facts.circulating) == 20
    for post in facts.circulating:
        page, event = pages[post.post_url], facts.event[post.event_id]
        assert page.kind is SiteKind.SOCIAL
        assert page.published == post.posted
        assert f'<img src="{post.image_url}"' in page.html
        assert event.title in page.markdown
        said = page.markdown.replace(event.title, "").replace(page.title, "")
        record, decoys = documented(event, facts), event.decoys
        assert decoys is not None
        told = [record.as_printed(kind) for kind in (Attribute.DATE, Attribute.VENUE, Attribute.HOST)]
        told += [decoys.date, decoys.venue, facts.person[decoys.host_id].name, f"{event.kind}s"]
        told += [event.detail.value, decoys.detail]
        assert not [value for value in told if re.search(rf"\b{re.escape(value)}\b", said)]
        assert not re.search(r"\b20\d\d\b", said)
        assert int(post.posted[:4]) > max(event.year, int(decoys.date[-4:]))


def test_an_ordinary_post_shows_no_picture(small: tuple[Facts, dict[str, Page]]) -> None:
    facts, pages = small
    posts = [page for page in pages.values() if page.kind is SiteKind.SOCIAL]
    assert len(posts) == len(facts.events) + len(facts.circulating)
    assert sum("<img" in page.html for page in posts) == len(facts.circulating)
