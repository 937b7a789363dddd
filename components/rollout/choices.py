"""What a user may choose for one investigation, and the sentences for what there is not."""

from typing import NamedTuple, get_args

from pydantic import ValidationError

from components.config.schema import Params
from components.config.tools import ToolParams
from components.errors import UsageError, unknown_name
from components.tools.base import ToolFamily, ToolSet
from components.tools.registry import tool_names
from components.tools.toolbox import FINISH

TRANSPORTS: tuple[str, ...] = get_args(ToolParams.model_fields["transport"].annotation)


class ToolChoice(NamedTuple):
    """Which tools there are."""

    only: frozenset[str] | None = None
    """Names; None for all."""
    without: frozenset[ToolFamily] = frozenset()
    """Families that are left out."""


EVERY_TOOL = ToolChoice()


def choose_tools(only: str | None, without: str | None, tool_set: ToolSet = "core") -> ToolChoice:
    """The tools of two lists with commas: names of those to offer, and families to leave out; None for no list.

    Raises:
        UsageError: there is no tool or family of a name.

    """
    names = None if only is None else frozenset(_names("tool", only, [*tool_names(tool_set), FINISH]))
    families = _names("family of tools", without or "", list(ToolFamily))
    return ToolChoice(names, frozenset(ToolFamily(name) for name in families))


def _names(kind: str, text: str, known: list[str]) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise unknown_name(kind, name, known)
    return names


def with_transport(params: Params, transport: str | None) -> Params:
    """The same settings with tools that `transport` answers; None changes nothing.

    Raises:
        UsageError: there is no such transport, or it does not go with the other settings.

    """
    if transport is None:
        return params
    if transport not in TRANSPORTS:
        raise unknown_name("transport", transport, TRANSPORTS)
    try:
        tools = ToolParams.model_validate(params.tools.model_dump() | {"transport": transport})
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise UsageError(f"--transport {transport}: {problem}") from None
    return params.model_copy(update={"tools": tools})
