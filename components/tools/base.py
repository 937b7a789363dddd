"""What every tool is: a name, arguments, a family, a limit, and a coroutine that gives a result or a failure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, Literal, Protocol

from PIL import Image
from pydantic import BaseModel, ConfigDict

from components.records.case import Case
from components.records.conversation import ToolSchema
from components.records.episode import FailureClass
from components.tools.sight import Sight, sight_of

ToolSet = Literal["core", "full"]
"""Nine tools with few arguments, or all thirteen with all of theirs."""


class ToolFamily(StrEnum):
    """Tools that an ablation takes away together."""

    WEB_SEARCH = "web_search"
    IMAGE_RETRIEVAL = "image_retrieval"
    EVIDENCE_INSPECTION = "evidence_inspection"
    VISUAL = "visual"


LEAD_FAMILIES = frozenset({ToolFamily.WEB_SEARCH, ToolFamily.IMAGE_RETRIEVAL})
"""Their results are leads: they say where to look, and may not be cited."""

LEAD_TOOLS = frozenset({"text_search", "text_image_search", "reverse_image_search"})
"""The tools of those families, by name."""


CLOCK = "current_time"
"""Dates what is found; may not be cited either."""


class Arguments(BaseModel):
    """The arguments of a tool; a key it does not have is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class NoArguments(Arguments):
    """For a tool that looks at the picture as a whole."""


@dataclass(frozen=True)
class ToolResult:
    """What a tool found."""

    text: str
    """What the policy reads."""
    payload: Mapping[str, Any] = field(default_factory=dict)
    """The same, typed; JSON values only."""
    images: tuple[bytes, ...] = ()
    """Encoded pictures that are shown to the policy."""
    source_url: str | None = None
    """The page or picture that was opened, if one was."""
    offered: tuple[str, ...] = ()
    """URLs of pictures that may be compared from now on."""


class ToolFailure(Exception):
    """A tool has no result; it was executed all the same, and the policy reads why."""

    def __init__(
        self,
        failure: FailureClass,
        text: str,
        payload: Mapping[str, Any] | None = None,
        *,
        images: tuple[bytes, ...] = (),
        source_url: str | None = None,
        charged: bool = True,
    ) -> None:
        super().__init__(text)
        self.failure = failure
        self.text = text
        self.payload = dict(payload or {})
        self.images = images
        self.source_url = source_url
        self.charged = charged
        """Whether the call counts against the tool's limit."""


@dataclass
class CaseState:
    """What one investigation has done so far, as far as tools must know it."""

    case: Case
    image: bytes
    """The case's picture, encoded."""
    used: Counter[str] = field(default_factory=Counter)
    """Executed calls by tool."""
    seconds: float = 0.0
    """What they have taken."""
    asked: set[tuple[str, str]] = field(default_factory=set)
    """(tool, normalised argument) of calls that a service has answered."""
    clues: list[str] = field(default_factory=list)
    """What the investigation looks for: printed lines and search queries, in the order they came up."""
    offered: set[str] = field(default_factory=set)
    """URLs of pictures that a search or a page has shown."""

    @cached_property
    def sight(self) -> Sight:
        """What is seen in the case's picture."""
        return sight_of(self.image)

    @property
    def picture(self) -> Image.Image:
        """The case's picture, RGB."""
        return self.sight.image


class Tool(Protocol):
    """One thing an investigation can do."""

    name: str
    description: str
    limit: int | None
    """Executed calls in one investigation; None for no limit."""
    arguments: type[Arguments]

    @property
    def family(self) -> ToolFamily | None:
        """None for a tool that no ablation takes away."""
        ...

    def refuse(self, arguments: Any, state: CaseState) -> str | None:
        """The sentence that refuses this call before it is executed, or None."""
        ...

    def key(self, arguments: Any) -> str | None:
        """What makes two calls the same, normalised; None when a call may be repeated."""
        ...

    async def run(self, arguments: Any, state: CaseState) -> ToolResult:
        """Execute the call; raises ToolFailure."""
        ...


_SHOWN = ("type", "description", "enum", "items")


@cache
def schema_of(name: str, description: str, arguments: type[Arguments]) -> ToolSchema:
    """A tool as a policy sees it."""
    schema = arguments.model_json_schema()
    properties = {
        name: {key: value for key, value in spec.items() if key in _SHOWN}
        for name, spec in schema.get("properties", {}).items()
    }
    parameters: dict[str, object] = {"type": "object", "properties": properties}
    if schema.get("required"):
        parameters["required"] = schema["required"]
    return ToolSchema(name, description, parameters)


def normalised(text: str) -> str:
    """Case-folded, with whitespace as single spaces: equal for queries that ask the same."""
    return " ".join(text.casefold().split())
