"""The tools that inspect evidence, with all of EviScene's arguments."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from components.tools import messages
from components.tools.base import Arguments, CaseState, ToolResult
from components.tools.clients.direct import PageReader
from components.tools.evidence import CompareArguments, CompareWithReference, Visit, VisitArguments
from components.tools.perception import Perception
from components.tools.source_policy import SourcePolicy
from components.tools.urls import is_web_address


class FullVisitArguments(VisitArguments):
    """A page to open, and what it is opened for."""

    question: str = Field("", max_length=400, description="What the page is to answer.")
    context: str = Field("", max_length=400, description="What is known already.")


class FullCompareArguments(CompareArguments):
    """A picture to compare, and what matters in it."""

    focus: str = Field("", max_length=400, description="What to compare first.")
    source_page_url: str = Field("", description="Address of the page that shows the reference.")
    expected_property: str = Field("", max_length=400, description="What both would show if the depiction is true.")


class FullVisit(Visit):
    """Opens a page and shows the passages that answer a question, copied word by word."""

    description = "Open a page and read the passages that answer a question."
    arguments: type[Arguments] = FullVisitArguments

    def __init__(self, reader: PageReader, policy: SourcePolicy, passage_chars: int, perception: Perception) -> None:
        super().__init__(reader, policy, passage_chars)
        self._perception = perception

    async def _chosen(
        self, passages: Sequence[str], arguments: VisitArguments, state: CaseState
    ) -> tuple[list[str], dict[str, Any]]:
        assert isinstance(arguments, FullVisitArguments)
        if not arguments.question or not passages:
            return await super()._chosen(passages, arguments, state)
        found = await self._perception.extract(passages, arguments.question, arguments.context)
        # A number that is none of a passage names nothing; what is shown was always on the page.
        ids = [at for at in dict.fromkeys((found.passage_id, *found.supporting_passage_ids)) if 0 <= at < len(passages)]
        return [passages[at] for at in sorted(ids)], {"question": arguments.question, "extraction": found.payload}


class FullCompareWithReference(CompareWithReference):
    """Compares the case's picture with one that was found, with an eye on something."""

    description = "Compare this picture with one that was found."
    arguments: type[Arguments] = FullCompareArguments

    def refuse(self, arguments: CompareArguments, state: CaseState) -> str | None:
        """Refuses pictures that nothing has shown, and blocked sites, the page's too."""
        assert isinstance(arguments, FullCompareArguments)
        page = arguments.source_page_url
        if page and not is_web_address(page):
            return messages.NOT_A_URL
        if page and self._policy.blocks_url(page):
            return messages.BLOCKED_URL
        return super().refuse(arguments, state)

    async def run(self, arguments: CompareArguments, state: CaseState) -> ToolResult:
        """What both have in common; the reference is shown."""
        assert isinstance(arguments, FullCompareArguments)
        return await self._compared(arguments.reference_url, arguments.focus, arguments.expected_property, state)
