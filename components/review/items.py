"""What reviewers are shown: everything about one case or one episode in a record, so that it has a digest."""

import re
from collections.abc import Mapping, Sequence

from components.config.paths import Paths
from components.records.base import Record
from components.records.case import Attribute, Case, Check, Evidence, Gold, Split, Verdict
from components.records.web import Page, WebPicture
from components.review.candidates import load_candidates
from components.review.fields import Field, case_fields, explain, refusal
from components.world.store import read_pages, read_pictures


class Item(Record):
    """What cases and episodes under review have in common.

    A decision counts for the digest of the item, so a field that is added here opens everything for review again.
    """

    item_id: str
    title: str
    fields: tuple[Field, ...] = ()
    """What may be edited; empty when an item can only be accepted or rejected."""
    step_count: int = 0

    @property
    def pictures(self) -> frozenset[str]:
        """SHA-256 of every picture that the item shows."""
        raise NotImplementedError

    def refusal(self, edits: Mapping[str, str]) -> str | None:
        """Why the item cannot be taken with these edits, in a sentence; None when it can."""
        return None


class Bearing(Record):
    """What a span has to do with the pictured situation."""

    detail: str
    stance: str


class Quote(Record):
    """A documented fact in the words of its page."""

    span: str
    bearings: tuple[Bearing, ...]
    found: bool
    """Whether it stands on the page, word for word."""


class Piece(Record):
    """A part of a page's text."""

    text: str
    quoted: bool


class Source(Record):
    """A page with everything that is quoted from it."""

    url: str
    title: str
    """Empty when the web has no such page."""
    quotes: tuple[Quote, ...]
    text: tuple[Piece, ...]
    """The whole page, cut where quotes begin and end."""


class Reference(Record):
    """A picture on a page that documents the event."""

    sha256: str
    caption: str
    url: str


class CaseItem(Item):
    """A case with its private record and its evidence."""

    picture: str
    """SHA-256."""
    claim: str
    label: Verdict
    error_type: str
    """Empty for a supported case."""
    explanation: str
    checks: tuple[Check, ...]
    sources: tuple[Source, ...]
    references: tuple[Reference, ...]

    @property
    def pictures(self) -> frozenset[str]:
        """The picture under review and those of the record."""
        return frozenset([self.picture, *(reference.sha256 for reference in self.references)])

    def refusal(self, edits: Mapping[str, str]) -> str | None:
        """Edits keep label and details consistent, and evidence on its page."""
        texts = ["".join(piece.text for piece in source.text) for source in self.sources for _ in source.quotes]
        return refusal(self.fields, self.checks, texts, edits)


def case_items(paths: Paths, splits: Sequence[Split] = tuple(Split)) -> list[CaseItem]:
    """Every candidate of the splits, sorted by id within each.

    Raises:
        EviflowError: the candidates or the web are not built.

    """
    pages = {page.url: page for page in read_pages(paths.web)}
    pictures: dict[str, list[WebPicture]] = {}
    for picture in read_pictures(paths.web):
        pictures.setdefault(picture.page_url, []).append(picture)
    items: list[CaseItem] = []
    for split in splits:
        items += [case_item(case, gold, pages, pictures) for case, gold in load_candidates(paths, split)]
    return items


def case_item(
    case: Case, gold: Gold, pages: Mapping[str, Page], pictures: Mapping[str, Sequence[WebPicture]]
) -> CaseItem:
    """One case as reviewers see it; `pages` and `pictures` by the address of their page."""
    explanation = gold.explanation or explain(gold.checks)
    return CaseItem(
        item_id=case.case_id,
        title=gold.event_title,
        fields=tuple(case_fields(gold, explanation)),
        picture=case.image_sha256,
        claim=gold.target_claim,
        label=gold.factual_status,
        error_type=gold.error_type.value if gold.error_type else "",
        explanation=explanation,
        checks=gold.checks,
        sources=_sources(gold.acceptable_evidence, pages),
        references=tuple(
            Reference(sha256=picture.sha256, caption=picture.title, url=picture.image_url)
            for url in gold.official_urls
            for picture in pictures.get(url, ())
        ),
    )


def _sources(evidence: Sequence[Evidence], pages: Mapping[str, Page]) -> tuple[Source, ...]:
    """The evidence by page; what one span says about several details stands together."""
    quoted: dict[str, dict[str, list[Bearing]]] = {}
    for item in evidence:
        bearing = Bearing(detail=_detail(item.source_id), stance=item.stance)
        quoted.setdefault(item.canonical_url, {}).setdefault(item.exact_span, []).append(bearing)
    return tuple(_source(url, spans, pages.get(url)) for url, spans in quoted.items())


def _detail(source_id: str) -> str:
    """The detail that a source documents, as its id ends with it; else the id."""
    tail = source_id.rpartition(":")[2]
    return tail if tail in set(Attribute) else source_id


def _source(url: str, spans: Mapping[str, Sequence[Bearing]], page: Page | None) -> Source:
    text = page.markdown if page else ""
    return Source(
        url=url,
        title=page.title if page else "",
        quotes=tuple(Quote(span=span, bearings=tuple(found), found=span in text) for span, found in spans.items()),
        text=tuple(_pieces(text, list(spans))),
    )


def _pieces(text: str, spans: Sequence[str]) -> list[Piece]:
    """The text cut at every occurrence of a span."""
    longest_first = sorted((re.escape(span) for span in spans if span), key=len, reverse=True)
    if not longest_first:
        return [Piece(text=text, quoted=False)]
    # A pattern with a group splits into plain and quoted parts in turn.
    parts = re.split(f"({'|'.join(longest_first)})", text)
    return [Piece(text=part, quoted=index % 2 == 1) for index, part in enumerate(parts) if part]
