"""Search tools: what they return are leads, which say where to look and prove nothing."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from components.tools import messages
from components.tools.base import Arguments, CaseState, NoArguments, ToolFamily, ToolResult, normalised
from components.tools.clients.serper import ImageRow, LensRow, Place, SerperClient, WebRow
from components.tools.clients.upload import Uploader
from components.tools.failures import attributed, nothing
from components.tools.instructions import instruction_in, instructs_in_address
from components.tools.source_policy import SourcePolicy


class QueryArguments(Arguments):
    """A search in words."""

    query: str = Field(min_length=1, description="Words to search for.")


class QueryTool:
    """What both searches in words share."""

    arguments: type[Arguments] = QueryArguments

    def __init__(self, serper: SerperClient, policy: SourcePolicy, rows: int) -> None:
        self._serper = serper
        self._policy = policy
        self._rows = rows

    def refuse(self, arguments: QueryArguments, state: CaseState) -> str | None:
        """Refuses a query that names a blocked site."""
        return messages.BLOCKED_QUERY if self._policy.blocks_text(arguments.query) else None

    def key(self, arguments: QueryArguments) -> str | None:
        """Equal queries are equal calls."""
        return normalised(arguments.query)

    def _place(self, arguments: QueryArguments) -> Place:
        """Where to search; a tool that is not told leaves it to the vendor."""
        return Place()


class TextSearch(QueryTool):
    """Web search."""

    name = "text_search"
    description = "Search the web for pages."
    family = ToolFamily.WEB_SEARCH
    limit: int | None = 16

    async def run(self, arguments: QueryArguments, state: CaseState) -> ToolResult:
        """Rows of title and address."""
        state.clues.append(arguments.query)
        with attributed():
            found = await self._serper.search(arguments.query, place=self._place(arguments))
        allowed = [row for row in found if not _blocked_page(row, self._policy)]
        shown = allowed[: self._rows]
        payload = _payload(arguments.query, [row.model_dump() for row in shown], len(found) - len(allowed))
        if not shown:
            raise nothing(messages.NOTHING_FOUND, **payload)
        return ToolResult("\n".join(f"{_line(row.title)}\n{row.link}" for row in shown), payload)


class TextImageSearch(QueryTool):
    """Image search in words."""

    name = "text_image_search"
    description = "Search the web for pictures."
    family = ToolFamily.IMAGE_RETRIEVAL
    limit: int | None = 6

    async def run(self, arguments: QueryArguments, state: CaseState) -> ToolResult:
        """Rows of caption and picture address."""
        state.clues.append(arguments.query)
        with attributed():
            found = await self._serper.images(arguments.query, place=self._place(arguments))
        allowed = [row for row in found if not _blocked_match(row, self._policy)]
        shown = allowed[: self._rows]
        payload = _payload(arguments.query, [row.model_dump() for row in shown], len(found) - len(allowed))
        if not shown:
            raise nothing(messages.NOTHING_FOUND, **payload)
        text = "\n".join(f"{_line(row.title)}\n{row.imageUrl}" for row in shown)
        return ToolResult(text, payload, offered=tuple(row.imageUrl for row in shown))


class ReverseImageSearch:
    """Search by the case's picture."""

    name = "reverse_image_search"
    description = "Find pages with pictures that look like this one."
    family = ToolFamily.IMAGE_RETRIEVAL
    limit: int | None = 2
    arguments: type[Arguments] = NoArguments

    def __init__(self, serper: SerperClient, upload: Uploader, policy: SourcePolicy, rows: int) -> None:
        self._serper = serper
        self._upload = upload
        self._policy = policy
        self._rows = rows

    def refuse(self, arguments: Arguments, state: CaseState) -> str | None:
        """Never."""
        return None

    def key(self, arguments: Arguments) -> str | None:
        """There is one picture, hence one question; it may be put again only after an outage."""
        return ""

    async def run(self, arguments: Arguments, state: CaseState) -> ToolResult:
        """Rows of page title and page address."""
        return await self._looked_up(state)

    async def _looked_up(self, state: CaseState) -> ToolResult:
        with attributed():
            async with self._upload.shared(state.image) as url:
                found = await self._serper.lens(url)
        return self._matches(found, None)

    def _matches(self, found: Sequence[LensRow | ImageRow], query: str | None) -> ToolResult:
        allowed = [row for row in found if not _blocked_match(row, self._policy)]
        shown = allowed[: self._rows]
        payload = _payload(query, [row.model_dump() for row in shown], len(found) - len(allowed))
        if not shown:
            raise nothing(messages.NOTHING_FOUND, **payload)
        text = "\n".join(f"{_line(row.title)}\n{row.link}" for row in shown)
        return ToolResult(text, payload, offered=tuple(row.imageUrl for row in shown if row.imageUrl))


def _line(title: str) -> str:
    """A title on one line, so that rows keep their form; one that gives orders is not shown."""
    return messages.TITLE_WITHHELD if instruction_in(title) else " ".join(title.split())


def _payload(query: str | None, results: list[dict[str, Any]], blocked: int) -> dict[str, Any]:
    asked = {} if query is None else {"query": query}
    return {**asked, "results": results, "policy_filtered_count": blocked}


def _blocked_page(row: WebRow, policy: SourcePolicy) -> bool:
    return _blocked((row.link,), f"{row.title}\n{row.snippet}", policy)


def _blocked_match(row: LensRow | ImageRow, policy: SourcePolicy) -> bool:
    return _blocked((row.link, row.imageUrl or ""), f"{row.title}\n{row.source}", policy)


def _blocked(urls: Sequence[str], text: str, policy: SourcePolicy) -> bool:
    """Whether the policy forbids a row, or one of its addresses spells out an order."""
    return any(policy.blocks_url(url) or instructs_in_address(url) for url in urls) or policy.blocks_text(text)
