"""What every result of looking has in common: typed, and bounded whoever looked.

A list or a text beyond its bound is cut, and the result says which. Text that gives orders is withheld, since a picture
may have such a text on it and a model may repeat it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from components.tools import messages
from components.tools.instructions import instruction_in
from components.tools.pages.invisible import without_invisible

MOST_TEXT = 4000
"""Characters of a result that a policy reads."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LINE = 400
"""Characters of a text that has no bound of its own."""

Share = Annotated[float, Field(ge=0, le=1)]
Where = Annotated[tuple[float, ...], Field(min_length=4, max_length=4)] | None
"""x1, y1, x2, y2 as shares of width and height; None where a box could not be told."""


class Part(BaseModel):
    """A part of a result."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _within_bounds(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            return raw
        bounds = {name: _bound(field.metadata) for name, field in cls.model_fields.items()}
        values = {name: _bounded(value, bounds[name]) if name in bounds else value for name, value in raw.items()}
        if "cut" in cls.model_fields:
            long = (name for name, value in raw.items() if _is_long(value, bounds.get(name)))
            values["cut"] = tuple(dict.fromkeys((*raw.get("cut", ()), *long)))
        return values


class Finding(Part):
    """A result."""

    OWN: ClassVar[frozenset[str]] = frozenset({"measured", "cut", "warnings", "comparison_method"})
    """Fields that code fills and no model is asked for."""

    measured: dict[str, Any] = {}
    """In the place of everything else where pixels were measured: the values themselves."""
    cut: tuple[str, ...] = ()
    """Fields that were longer than they may be."""
    warnings: tuple[str, ...] = ()
    """What was dropped."""

    @property
    def payload(self) -> dict[str, Any]:
        """The result as JSON values."""
        return self.measured or self.model_dump(mode="json", exclude={"measured"})

    @property
    def text(self) -> str:
        """What a policy reads."""
        return bounded(self.lines)

    @property
    def lines(self) -> Sequence[str]:
        """The text, line by line."""
        raise NotImplementedError


def bounded(lines: Iterable[str], most: int = MOST_TEXT) -> str:
    """Lines up to so many characters, and how many more there were."""
    kept: list[str] = []
    everything = list(lines)
    room = most
    for line in everything:
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, messages.more_lines(len(everything) - len(kept))])
        kept.append(line)
    return "\n".join(kept)


def box_text(box: Where) -> str:
    """A box as tools take it, in brackets; empty for none."""
    return "" if box is None else f" [{','.join(f'{side:.3g}' for side in box)}]"


def _bound(metadata: Sequence[Any]) -> int | None:
    return next((item.max_length for item in metadata if hasattr(item, "max_length")), None)


def _is_long(value: Any, bound: int | None) -> bool:
    return isinstance(value, str | list | tuple) and len(value) > (bound or (_LINE if isinstance(value, str) else 99))


def _plain(text: str) -> str:
    """Without what nobody sees, what steers a terminal, and halves of characters, which no file can hold."""
    whole = without_invisible(text).encode("utf-8", "ignore").decode("utf-8")
    return _CONTROL.sub(" ", whole)


def _bounded(value: Any, bound: int | None) -> Any:
    """A text on one line and within its bound, or withheld; a list within its bound."""
    if isinstance(value, str):
        line = " ".join(_plain(value).split())[: bound or _LINE]
        return messages.TEXT_WITHHELD if instruction_in(line) else line
    if isinstance(value, list | tuple):
        items = list(value)[: bound or len(value)]
        return [_bounded(item, None) if isinstance(item, str) else item for item in items]
    return value
