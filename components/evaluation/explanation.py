"""Reading a report's explanation: one clause for each attribute, picture first, record second.

date 12 March 2031 vs 14* March 2031 differs; venue Rowan Hall vs Rowan Hall same; host Mara Venn same person

Marks behind words that differ help the writer, and may be left out. The `photo` of a picture is the year of the event
that it was taken at.
"""

import re
from typing import NamedTuple

from components.records.case import Attribute
from components.records.marks import unmarked


class Claim(NamedTuple):
    """What one clause says about one attribute."""

    attribute: Attribute
    depicted: str | None
    """None for a person: a clause names only the documented one."""
    documented: str
    differs: bool

    @property
    def consistent(self) -> bool:
        """Whether the stated values bear out the stated relation."""
        return self.depicted is None or self.differs == (folded(self.depicted) != folded(self.documented))


PEOPLE: tuple[Attribute, ...] = (Attribute.HOST, Attribute.GUEST)
"""Attributes that are told by comparing faces."""

_PERSON = "|".join(PEOPLE)
_VALUE = "|".join(attribute for attribute in Attribute if attribute not in PEOPLE)
_VALUES = re.compile(rf"({_VALUE})\W+(.+?)\s+vs\.?\s+(.+?)\s+(same|differs?|different)", re.IGNORECASE)
_PEOPLE = re.compile(rf"({_PERSON})\W+(.+?)\s+(?:is\s+(?:the\s+|a\s+)?)?(same|different)\s+person", re.IGNORECASE)


def parse_explanation(text: str) -> tuple[Claim, ...]:
    """The claims in order; a clause that follows neither form claims nothing and is skipped."""
    clauses = (clause.strip().rstrip(".") for clause in re.split(r"[;\n]", unmarked(text)))
    return tuple(claim for clause in clauses if (claim := _claim(clause)) is not None)


def folded(text: str) -> str:
    """Text as it is compared: case and runs of white space do not matter, every other character does."""
    return " ".join(text.casefold().split())


def contains(text: str, value: str) -> bool:
    """Whether `value` stands in `text` as whole words."""
    return re.search(rf"(?<!\w){re.escape(folded(value))}(?!\w)", folded(text)) is not None


def _claim(clause: str) -> Claim | None:
    if match := _VALUES.fullmatch(clause):
        name, depicted, documented, relation = match.groups()
        return Claim(Attribute(name.lower()), depicted, documented, relation.lower() != "same")
    if match := _PEOPLE.fullmatch(clause):
        return Claim(Attribute(match[1].lower()), None, match[2], match[3].lower() == "different")
    return None
