"""The searches with all of EviScene's arguments."""

from typing import Literal

from pydantic import Field

from components.records.episode import FailureClass
from components.tools import messages
from components.tools.base import Arguments, CaseState, ToolFailure, ToolResult
from components.tools.clients.serper import Place, SerperClient
from components.tools.clients.upload import Uploader
from components.tools.failures import attributed
from components.tools.perception import Perception
from components.tools.retrieval import QueryArguments, QueryTool, ReverseImageSearch, TextImageSearch, TextSearch
from components.tools.source_policy import SourcePolicy

_COUNTRY, _LANGUAGE = r"^([A-Za-z]{2})?$", r"^([A-Za-z]{2,3}(-[A-Za-z]{2,4})?)?$"


class PlacedQueryArguments(QueryArguments):
    """A search in words, from a country and in a language."""

    gl: str = Field("", pattern=_COUNTRY, description="Country to search from, two letters.")
    hl: str = Field("", pattern=_LANGUAGE, description="Language to search in.")


class FullTextSearchArguments(PlacedQueryArguments):
    """The same, with what it is for."""

    goal: str = Field("", max_length=400, description="What the search is to find out.")


class BranchArguments(Arguments):
    """How to search by the picture."""

    branch: Literal["lens", "semantic"] = Field(
        "lens", description="lens: by the picture itself; semantic: by words that describe it. Each once."
    )


class _Placed(QueryTool):
    """A search whose country and language are asked for."""

    def _place(self, arguments: QueryArguments) -> Place:
        assert isinstance(arguments, PlacedQueryArguments)
        return Place(arguments.gl.casefold(), arguments.hl)


class FullTextSearch(_Placed, TextSearch):
    """Web search."""

    arguments: type[Arguments] = FullTextSearchArguments

    async def run(self, arguments: QueryArguments, state: CaseState) -> ToolResult:
        """Rows of title and address; the goal says what to look for in pages that are opened later."""
        assert isinstance(arguments, FullTextSearchArguments)
        if arguments.goal:
            state.clues.append(arguments.goal)
        return await super().run(arguments, state)


class FullTextImageSearch(_Placed, TextImageSearch):
    """Image search in words."""

    arguments: type[Arguments] = PlacedQueryArguments


class FullReverseImageSearch(ReverseImageSearch):
    """Search by the case's picture, or by words that describe it."""

    description = "Find pages with pictures that look like this one, or that fit a description of it."
    arguments: type[Arguments] = BranchArguments

    def __init__(
        self, serper: SerperClient, upload: Uploader, policy: SourcePolicy, rows: int, perception: Perception
    ) -> None:
        super().__init__(serper, upload, policy, rows)
        self._perception = perception

    def key(self, arguments: Arguments) -> str | None:
        """Each branch is one question."""
        assert isinstance(arguments, BranchArguments)
        return arguments.branch

    async def run(self, arguments: Arguments, state: CaseState) -> ToolResult:
        """Rows of title and page address."""
        assert isinstance(arguments, BranchArguments)
        return await (self._described(state) if arguments.branch == "semantic" else self._looked_up(state))

    async def _described(self, state: CaseState) -> ToolResult:
        query = (await self._perception.describe(state.sight)).query
        if self._policy.blocks_text(query):
            raise ToolFailure(FailureClass.POLICY, messages.BLOCKED_QUERY, {"query": query})
        with attributed():
            found = await self._serper.images(query)
        return self._matches(found, query)
