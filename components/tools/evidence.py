"""Tools that inspect evidence: open a page, compare a picture with the case's."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from components.records.episode import FailureClass
from components.tools import messages
from components.tools.base import Arguments, CaseState, ToolFailure, ToolFamily, ToolResult
from components.tools.clients.direct import PageReader
from components.tools.clients.jina import ReadPage
from components.tools.clients.pictures import PictureClient
from components.tools.failures import attributed, nothing
from components.tools.instructions import instructs_in_address
from components.tools.perception import Perception
from components.tools.reading import choose, read_markdown, refuses_readers
from components.tools.sight import sight_of
from components.tools.source_policy import SourcePolicy
from components.tools.urls import is_web_address, same_address


class VisitArguments(Arguments):
    """A page to open."""

    url: str = Field(min_length=1, description="Address of the page.")


class CompareArguments(Arguments):
    """A picture to compare."""

    reference_url: str = Field(min_length=1, description="Address of the reference picture.")


class Visit:
    """Opens a page and shows the passage that matters."""

    name = "visit"
    description = "Open a page and read the passage that matters."
    family = ToolFamily.EVIDENCE_INSPECTION
    limit: int | None = 16
    arguments: type[Arguments] = VisitArguments

    def __init__(self, reader: PageReader, policy: SourcePolicy, passage_chars: int) -> None:
        self._reader = reader
        self._policy = policy
        self._passage_chars = passage_chars

    def refuse(self, arguments: VisitArguments, state: CaseState) -> str | None:
        """Refuses what is no address, and blocked sites."""
        if not is_web_address(arguments.url):
            return messages.NOT_A_URL
        return messages.BLOCKED_URL if self._policy.blocks_url(arguments.url) else None

    def key(self, arguments: VisitArguments) -> str | None:
        """A page is opened once."""
        return same_address(arguments.url)

    async def run(self, arguments: VisitArguments, state: CaseState) -> ToolResult:
        """The best passage or two, and the page's first picture."""
        with attributed(arguments.url):
            page = await self._reader.read(arguments.url)
        if self._policy.blocks_url(page.url):
            raise ToolFailure(FailureClass.POLICY, messages.BLOCKED_REDIRECT, {}, source_url=arguments.url)
        if refuses_readers(page.content):
            payload = {"service": "page", "reason": "the page is a captcha or a refusal"}
            raise ToolFailure(FailureClass.INFRASTRUCTURE, messages.BLOCKED_PAGE, payload, source_url=arguments.url)
        return await self._result(arguments, page, state)

    async def _chosen(
        self, passages: Sequence[str], arguments: VisitArguments, state: CaseState
    ) -> tuple[list[str], dict[str, Any]]:
        """The passages that matter, and what there is to record of the choice."""
        return choose(passages, state.clues, self._passage_chars), {}

    async def _result(self, arguments: VisitArguments, page: ReadPage, state: CaseState) -> ToolResult:
        reading = read_markdown(page.content, page.title, self._passage_chars)
        passages, choice = await self._chosen(reading.passages, arguments, state)
        allowed = (url for url in page.pictures if not self._policy.blocks_url(url))
        pictures = [url for url in allowed if not instructs_in_address(url)][:1]
        payload: dict[str, Any] = {
            "url": page.url,
            "title": page.title,
            "passages": passages,
            "passage_count": len(reading.passages),
            "pictures": pictures,
            "dropped_instructions": reading.instructions,
            "instruction_kinds": list(reading.kinds),
            **choice,
        }
        if not passages:
            raise nothing(messages.NOT_ANSWERED if reading.passages else messages.NO_PAGE_TEXT, **payload)
        lines = [*passages, *(f"picture: {url}" for url in pictures)]
        return ToolResult("\n".join(lines), payload, source_url=arguments.url, offered=tuple(pictures))


class CompareWithReference:
    """Compares the people and the scene of the case's picture with those of a picture that was found."""

    name = "compare_with_reference"
    description = "Compare person and scene of this picture with those of a picture that was found."
    family = ToolFamily.EVIDENCE_INSPECTION
    limit: int | None = 6
    arguments: type[Arguments] = CompareArguments

    def __init__(self, pictures: PictureClient, policy: SourcePolicy, perception: Perception) -> None:
        self._pictures = pictures
        self._policy = policy
        self._perception = perception

    def refuse(self, arguments: CompareArguments, state: CaseState) -> str | None:
        """Refuses pictures that nothing has shown, and blocked sites."""
        if self._policy.blocks_url(arguments.reference_url):
            return messages.BLOCKED_URL
        offered = {same_address(url) for url in state.offered}
        return None if same_address(arguments.reference_url) in offered else messages.NOT_OFFERED

    def key(self, arguments: CompareArguments) -> str | None:
        """A picture is compared once."""
        return same_address(arguments.reference_url)

    async def run(self, arguments: CompareArguments, state: CaseState) -> ToolResult:
        """`same person; different scene` and the like; the reference is shown."""
        return await self._compared(arguments.reference_url, "", "", state)

    async def _compared(self, url: str, focus: str, expected_property: str, state: CaseState) -> ToolResult:
        with attributed(url):
            reference = await self._pictures.download(url)
        if self._policy.blocks_url(reference.url):
            raise ToolFailure(FailureClass.POLICY, messages.BLOCKED_REDIRECT, {}, source_url=url)
        comparison = await self._perception.compare(state.sight, sight_of(reference.png), focus, expected_property)
        payload = {"reference_url": url, **comparison.payload}
        if not comparison.comparable:
            raise ToolFailure(
                FailureClass.EMPTY_RESULT,
                messages.NOT_COMPARABLE,
                payload,
                images=(reference.png,),
                source_url=url,
            )
        return ToolResult(comparison.text, payload, images=(reference.png,), source_url=url)
