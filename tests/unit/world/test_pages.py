from collections import Counter

import pytest

from components.config.schema import WorldParams
from components.records.web import Page, SiteKind
from components.world.entities import Facts
from components.world.facts import build_facts
from components.world.pages import build_pages, page_count


@pytest.fixture(scope="module")
def small_facts() -> Facts:
    return build_facts(WorldParams(train_events=12, test_events=4))


@pytest.fixture(scope="module")
def small_pages(small_facts: Facts) -> list[Page]:
    return list(build_pages(small_facts))


def of_kind(pages: list[Page], kind: SiteKind) -> list[Page]:
    return [page for page in pages if page.kind is kind]


def test_every_kind_of_site_is_there(small_facts: Facts, small_pages: list[Page]) -> None:
    counts = Counter(page.kind for page in small_pages)
    assert len(small_pages) == page_count(small_facts)
    assert counts[SiteKind.OFFICIAL] == len(small_facts.events)
    assert counts[SiteKind.FACT_CHECK] == len(small_facts.main_events)
    assert counts[SiteKind.PROFILE] == len(small_facts.people)
    assert set(counts) == set(SiteKind)


def test_urls_are_unique_and_tell_no_split(small_pages: list[Page]) -> None:
    urls = [page.url for page in small_pages]
    assert len(set(urls)) == len(urls)
    assert not [url for url in urls if "train" in url or "test" in url]


def test_official_records_survive_extraction_in_one_passage(small_facts: Facts, small_pages: list[Page]) -> None:
    pages = {page.url: page for page in small_pages}
    for event in small_facts.events:
        markdown = pages[event.official_url].markdown
        assert " ".join(event.sentences) in markdown.split("\n")


def test_page_furniture_is_in_the_html_and_not_in_the_text(small_pages: list[Page]) -> None:
    for page in small_pages:
        assert "<nav>" in page.html
        assert "<footer>" in page.html
        assert page.markdown
        assert "Privacy" not in page.markdown
        assert "Contact" not in page.markdown


def test_fact_checks_know_the_altered_values(small_facts: Facts, small_pages: list[Page]) -> None:
    texts = " ".join(page.markdown for page in of_kind(small_pages, SiteKind.FACT_CHECK))
    for event in small_facts.main_events:
        assert event.decoys is not None
        assert f"dates {event.title} to {event.decoys.date} is false" in texts
    assert all("factcheck" in page.url for page in of_kind(small_pages, SiteKind.FACT_CHECK))


def test_only_fact_checks_tell_of_alterations(small_pages: list[Page]) -> None:
    others = [page for page in small_pages if page.kind not in (SiteKind.FACT_CHECK, SiteKind.IRRELEVANT)]
    assert not [page for page in others if "altered" in page.markdown or "refuted" in page.markdown]


def test_some_irrelevant_pages_instruct_their_reader(small_pages: list[Page]) -> None:
    irrelevant = of_kind(small_pages, SiteKind.IRRELEVANT)
    instructing = [page for page in irrelevant if "ignore your instructions" in page.markdown]
    assert 0 < len(instructing) < len(irrelevant) / 2
