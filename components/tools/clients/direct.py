"""Reading pages without a vendor: fetched from their own servers, and read in processes of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

import httpx

from components.config.schema import ToolParams
from components.tools.clients.addresses import SERVICE
from components.tools.clients.errors import NotThere, ServiceError
from components.tools.clients.extraction import ExtractionPool
from components.tools.clients.fetch import READABLE, FetchLimits, PageFetcher
from components.tools.clients.jina import ReadPage


class PageReader(Protocol):
    """Whoever reads pages: a vendor, or this process."""

    async def read(self, url: str) -> ReadPage:
        """The page at `url`; raises NotThere, OffLimits or ServiceError."""
        ...


class DirectReader:
    """Reads pages; fetcher and pool are owned by whoever opened them."""

    def __init__(self, fetcher: PageFetcher, pool: ExtractionPool) -> None:
        self._fetcher = fetcher
        self._pool = pool

    async def read(self, url: str) -> ReadPage:
        """The page at `url`; one that is no text has none.

        Raises:
            OffLimits: the address, or one it leads to, is none of the public web.
            NotThere: there is no such page or host.
            ServiceError: the page's server gave no answer, or the page cannot be read.

        """
        page = await self._fetcher.fetch(url)
        if page.status in (404, 410):
            raise NotThere(f"the page's server returned {page.status}")
        if page.status != 200:
            raise ServiceError(SERVICE, f"the page's server returned {page.status}")
        if page.media_type not in READABLE:
            return ReadPage(url=page.url, title="", content="")
        text = await self._pool.read(page)
        return ReadPage(url=page.url, title=text.title, content=text.markdown, pictures=text.pictures)


@asynccontextmanager
async def open_direct_reader(params: ToolParams, transport: httpx.AsyncBaseTransport) -> AsyncIterator[DirectReader]:
    """Open a reader; every connection and process is closed at the end.

    Args:
        params: of the tools.
        transport: who answers: the closed world, or the public web through a guard.

    """
    limits = FetchLimits(timeout_s=params.request_timeout_s)
    async with PageFetcher(transport, limits) as fetcher, ExtractionPool() as pool:
        yield DirectReader(fetcher, pool)
