"""What circulates: posts on social sites that show a picture, and what became known of one."""

from pathlib import Path
from typing import Literal

from components.curation.curator.proposal import Topic, Trail
from components.records.base import Record
from components.records.case import DECISIVE_ATTRIBUTE, Check, ErrorType
from components.records.web import SiteKind
from components.world.store import read_pages, read_pictures


class Post(Record):
    """A picture as it was posted."""

    page_url: str
    image_url: str
    posted: str
    """ISO date."""
    sha256: str
    """Of the picture."""


class Found(Record):
    """A posted picture whose source was recovered."""

    post: Post
    topic: Topic
    """The event that it claims to show."""
    recovered_by: Literal["title", "picture"]
    """What led to the record: a search for the printed title, or one by the picture itself."""
    checks: tuple[Check, ...]
    """What was read in the picture beside what the record says, in the order of `Attribute`."""
    trail: Trail

    @property
    def error_type(self) -> ErrorType | None:
        """What is wrong with it; None when everything holds. At most one check does not."""
        wrong = {check.attribute for check in self.checks if not check.holds}
        return next((kind for kind, attribute in DECISIVE_ATTRIBUTE.items() if attribute in wrong), None)


def posts_on(web: Path) -> list[Post]:
    """Every post with a picture in the public web, by address.

    Raises:
        EviflowError: the world is not built.

    """
    dates = {page.url: page.published for page in read_pages(web) if page.kind is SiteKind.SOCIAL}
    return [
        Post(
            page_url=picture.page_url,
            image_url=picture.image_url,
            posted=dates[picture.page_url],
            sha256=picture.sha256,
        )
        for picture in read_pictures(web)
        if picture.page_url in dates
    ]
