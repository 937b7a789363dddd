"""The closed world's web in memory: pages and pictures by address, and the indexes over them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from components.records.web import Page, WebPicture
from components.world.image_index import ImageIndex
from components.world.search_index import TextIndex, words

REACH = 0.6
"""How far a picture may be and still count as a visual match."""

_TITLE_WEIGHT = 3
"""A word of the title counts as so many."""


def address(url: str) -> str:
    """What two spellings of one URL have in common: no scheme, fragment, or final slash; host in lower case."""
    parts = urlsplit(url if "//" in url else f"//{url}")
    query = f"?{parts.query}" if parts.query else ""
    return f"{(parts.hostname or '').rstrip('.')}{parts.path.rstrip('/')}{query}"


def host_of(url: str) -> str:
    """The host of a URL, in lower case; empty when it has none."""
    return (urlsplit(url if "//" in url else f"//{url}").hostname or "").rstrip(".")


@dataclass(frozen=True)
class Web:
    """Everything that can be found, with its indexes.

    Args:
        pages: every page.
        pictures: every picture on a page, in page order.
        read: gives a picture's bytes by SHA-256.
        cache: where picture features are kept between processes.

    """

    pages: Sequence[Page]
    pictures: Sequence[WebPicture]
    read: Callable[[str], bytes]
    cache: Path | None = None

    def page(self, url: str) -> Page | None:
        """The page at `url`."""
        return self._pages_by_address.get(address(url))

    def picture(self, url: str) -> WebPicture | None:
        """The picture at `url`."""
        return self._pictures_by_address.get(address(url))

    def pictures_on(self, page: Page) -> list[WebPicture]:
        """The pictures that a page shows."""
        return self._pictures_by_page.get(address(page.url), [])

    def knows_host(self, host: str) -> bool:
        """Whether anything stands at this host."""
        return host in self._hosts

    @cached_property
    def text(self) -> TextIndex:
        """Over titles and texts of pages; a title is what a page is about."""
        return TextIndex([[*words(page.title) * _TITLE_WEIGHT, *words(page.markdown)] for page in self.pages])

    @cached_property
    def captions(self) -> TextIndex:
        """Over captions, and titles of the pages the pictures stand on."""
        return TextIndex([[*words(picture.title), *words(self._page_title(picture))] for picture in self.pictures])

    @cached_property
    def looks(self) -> ImageIndex:
        """Over the pictures themselves."""
        return ImageIndex.over([picture.sha256 for picture in self.pictures], self.read, self.cache)

    def build(self) -> "Web":
        """Build every index now, so that no request waits for it."""
        self.text.search("warm", 1)
        self.captions.search("warm", 1)
        _ = self.looks, self._pages_by_address, self._pictures_by_address, self._pictures_by_page, self._hosts
        return self

    def page_of(self, picture: WebPicture) -> Page | None:
        """The page a picture stands on."""
        return self.page(picture.page_url)

    def _page_title(self, picture: WebPicture) -> str:
        page = self.page_of(picture)
        return page.title if page else ""

    @cached_property
    def _pages_by_address(self) -> dict[str, Page]:
        return {address(page.url): page for page in self.pages}

    @cached_property
    def _pictures_by_address(self) -> dict[str, WebPicture]:
        return {address(picture.image_url): picture for picture in self.pictures}

    @cached_property
    def _pictures_by_page(self) -> dict[str, list[WebPicture]]:
        found: dict[str, list[WebPicture]] = {}
        for picture in self.pictures:
            found.setdefault(address(picture.page_url), []).append(picture)
        return found

    @cached_property
    def _hosts(self) -> frozenset[str]:
        return frozenset(
            [*(host_of(page.url) for page in self.pages), *(host_of(picture.image_url) for picture in self.pictures)]
        )
