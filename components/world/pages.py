"""The pages of the world: templates filled with facts, and the text a page reader gets out of them."""

import random
from collections.abc import Iterator
from functools import lru_cache

import jinja2
import trafilatura

from components.errors import EviflowError
from components.records.case import Attribute
from components.records.kinds import counted
from components.records.web import Page, SiteKind
from components.world import names, prose
from components.world.entities import Circulating, Event, Facts, Person


@lru_cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("components.world"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def readable_text(html: str) -> str:
    """What a page reader returns for a page: markdown without navigation and footers.

    Not to be called from several threads at once: the extractor keeps state.
    """
    return trafilatura.extract(html, output_format="markdown", fast=True, include_comments=False) or ""


def build_pages(facts: Facts) -> Iterator[Page]:
    """Every page of the world.

    Raises:
        EviflowError: a sentence of an official record got lost on its page.

    """
    rng = random.Random(f"pages-{facts.seed}")
    for person in facts.people:
        yield _profile(person, rng)
    for event in facts.events:
        yield _official(event, facts, rng)
        yield _news(event, facts, rng)
        yield _social(event, facts, rng)
        if event.decoys is not None:
            yield _fact_check(event, facts)
    yield from _irrelevant(len(facts.main_events), rng)
    for shared in facts.circulating:
        yield _circulating(shared)


def page_count(facts: Facts) -> int:
    """How many pages `build_pages` yields."""
    main = len(facts.main_events)
    posts = len(facts.events) + len(facts.circulating)
    return len(facts.people) + 2 * len(facts.events) + posts + main + prose.irrelevant_count(main)


def _page(template: str, kind: SiteKind, url: str, title: str, published: str, **values: object) -> Page:
    site = url.split("/")[2]
    html = _templates().get_template(f"{template}.html.jinja").render(
        url=url, title=title, site=site, published=published, **values
    )  # fmt: skip
    return Page(url=url, title=title, kind=kind, published=published, html=html, markdown=readable_text(html))


def _official(event: Event, facts: Facts, rng: random.Random) -> Page:
    page = _page(
        "official", SiteKind.OFFICIAL, event.official_url, f"{event.title} {event.year}", names.iso_date(event.date),
        event=event, record=" ".join(event.sentences), opening=prose.opening(rng), closing=prose.closing(rng),
    )  # fmt: skip
    for sentence in event.sentences:
        if sentence not in page.markdown:
            raise EviflowError(f"{event.official_url} lost the sentence {sentence!r}; mend the template `official`")
    return page


def _profile(person: Person, rng: random.Random) -> Page:
    return _page(
        "profile", SiteKind.PROFILE, person.profile_url, f"{person.name}, official profile", "2030-06-01",
        person=person, about=prose.biography(person.name, rng),
    )  # fmt: skip


def _news(event: Event, facts: Facts, rng: random.Random) -> Page:
    site = rng.choice(prose.NEWS_SITES)
    return _page(
        "news", SiteKind.NEWS, f"https://{site}/{names.slug(event.title)}-{event.year}",
        f"{event.title} {event.year} draws a crowd", names.iso_date(event.date),
        lead=prose.news_lead(event, facts.person[event.host_id].name, rng), colour=prose.colour(rng),
    )  # fmt: skip


def _social(event: Event, facts: Facts, rng: random.Random) -> Page:
    handle = names.slug(rng.choice(prose.HANDLES))
    return _page(
        "social", SiteKind.SOCIAL, f"https://chirp.example/{handle}/{names.slug(event.title)}-{event.year}",
        f"@{handle} on Chirp", names.iso_date(event.date),
        handle=handle, post=prose.post(event, facts.person[event.host_id].name, rng), likes=rng.randint(3, 900),
        picture_url=None,
    )  # fmt: skip


def _circulating(shared: Circulating) -> Page:
    return _page(
        "social", SiteKind.SOCIAL, shared.post_url, f"@{shared.handle} on Chirp", shared.posted,
        handle=shared.handle, post=shared.text, likes=shared.likes, picture_url=shared.image_url,
    )  # fmt: skip


def _fact_check(event: Event, facts: Facts) -> Page:
    """A site that knows which pictures of an event are altered; the source policy keeps it from investigations."""
    decoys = event.decoys
    assert decoys is not None

    def shown(value: str) -> str:
        return facts.person[value].name if event.detail.attribute is Attribute.GUEST else value

    claims = (
        (f"A picture that dates {event.title} to {decoys.date} is false.", f"The true date is {event.date}."),
        (f"A picture that places it at {decoys.venue} is false.", f"The true place is {event.venue}."),
        (
            f"A picture that shows {facts.person[decoys.host_id].name} as the host is false.",
            f"The true host is {facts.person[event.host_id].name}.",
        ),
        (
            f"A picture that shows {counted(event.kind, decoys.count)} is false.",
            f"There were {counted(event.kind, event.count)}.",
        ),
        (
            f"A picture that gives {shown(decoys.detail)} as the {event.detail.attribute} is false.",
            f"The record gives {shown(event.detail.value)}.",
        ),
    )
    return _page(
        "fact_check", SiteKind.FACT_CHECK, f"https://factcheck-desk.example/{names.slug(event.title)}-{event.year}",
        f"Fact check: altered pictures of {event.title}", f"{event.year + 1}-01-15", claims=claims,
    )  # fmt: skip


def _irrelevant(main_events: int, rng: random.Random) -> Iterator[Page]:
    for index in range(prose.irrelevant_count(main_events)):
        article = prose.irrelevant(index, rng)
        yield _page(
            "irrelevant", SiteKind.IRRELEVANT, f"https://{article.site}/{index:03d}", article.title, "2034-09-09",
            paragraphs=article.paragraphs,
        )  # fmt: skip
