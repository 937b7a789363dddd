"""What the closed world's web is made of. These records are public: an investigation may find them."""

from enum import StrEnum

from components.records.base import Record


class SiteKind(StrEnum):
    """What sort of site a page stands on."""

    OFFICIAL = "official"
    """The organiser's own record of the event: the page that settles a case."""
    PROFILE = "profile"
    """A person's page with an official portrait."""
    NEWS = "news"
    SOCIAL = "social"
    FACT_CHECK = "fact_check"
    """Knows the answer, and is blocked by the source policy."""
    IRRELEVANT = "irrelevant"


class Page(Record):
    """One page of the closed world."""

    url: str
    title: str
    kind: SiteKind
    published: str
    """ISO date."""
    html: str
    markdown: str
    """The page's readable text, as a page reader returns it."""


class WebPicture(Record):
    """One picture on a page."""

    image_url: str
    page_url: str
    title: str
    """Caption, also what text image search matches."""
    sha256: str
    width: int
    height: int
