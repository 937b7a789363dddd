"""How the scripted teacher reads what tools returned. It reads the same words as any other policy, and nothing else."""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from components.agent.codec import parse_turn
from components.records.case import Attribute
from components.records.conversation import Message
from components.records.kinds import KINDS

_DATE = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}")
_NAME = r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)*"
_VENUE = re.compile(rf"\bat ({_NAME})")
_HOST = re.compile(rf"host was ({_NAME})|({_NAME}) was the host|hosted by ({_NAME})")
_DETAILS: dict[Attribute, re.Pattern[str]] = {
    Attribute.ACTION: re.compile(r"host was ([a-z]+ing)\b"),
    Attribute.GUEST: re.compile(rf"({_NAME}) met the host|host met ({_NAME})"),
    Attribute.SKY: re.compile(r"sky showed the ([a-z]+)"),
    Attribute.VISITORS: re.compile(r"\b(\d+) visitors"),
    Attribute.SIDE: re.compile(r"host (?:stood|was) on the ([a-z]+)"),
    Attribute.MOTTO: re.compile(rf"motto (?:was )?({_NAME})"),
    Attribute.SOURCE: re.compile(rf"hotographs (?:are )?by ({_NAME})"),
}
"""How pages word the detail that an event is known by."""
_PRINTED_DETAIL = re.compile(r"(Visitors|Motto|Photo) (.+)")
_PRINTED_AS = {"Visitors": Attribute.VISITORS, "Motto": Attribute.MOTTO, "Photo": Attribute.SOURCE}
_GLANCED = {
    Attribute.SIDE: re.compile(r"on the (left|right)"),
    Attribute.ACTION: re.compile(r"action ([a-z]+)"),
    Attribute.SKY: re.compile(r"sky ([a-z]+)"),
}
_THINGS = re.compile(r"\b(\d+) ([a-z]+)")
_PICTURE = re.compile(r"^picture: (\S+)$", re.MULTILINE)


OTHER_EDITION = 2
"""A record that contradicts the picture in so many details is of another edition."""


class Call(NamedTuple):
    """One executed or refused call of an investigation, and what came back."""

    tool: str
    arguments: str
    """JSON text."""
    observation_id: str
    """Empty for a refused call."""
    text: str

    @property
    def arguments_dict(self) -> dict[str, str]:
        """The arguments by name."""
        return {name: str(value) for name, value in json.loads(self.arguments).items()}


class Printed(NamedTuple):
    """What is printed in a picture; an empty string where nothing was read."""

    title: str = ""
    date: str = ""
    venue: str = ""
    visitors: str = ""
    motto: str = ""
    source: str = ""


class Documented(NamedTuple):
    """What a page records of an event; an empty string where it says nothing."""

    date: str
    venue: str
    host: str
    number: str
    picture_url: str
    details: dict[Attribute, str]
    """What else it says, by attribute."""


class Row(NamedTuple):
    """One search result."""

    title: str
    url: str


def calls_of(messages: Sequence[Message]) -> list[Call]:
    """Every call so far with its answer, in order."""
    calls = []
    for turn, answer in itertools.pairwise(messages):
        parsed = parse_turn(turn.text) if turn.role == "assistant" else None
        if parsed and parsed.call:
            text = answer.text.partition("\n")[2] if answer.observation_id else answer.text
            calls.append(Call(parsed.call.name, parsed.call.arguments_json, answer.observation_id or "", text))
    return calls


def read_printed(text: str) -> Printed:
    """What the printed lines say; the date is found by its form, a detail by its first word, the title stands first."""
    date = next(iter(_DATE.findall(text)), "")
    lines = [line.strip(" ,-|") for line in _DATE.sub("\n", text).splitlines() if line.strip(" ,-|")]
    details = [match for line in lines if (match := _PRINTED_DETAIL.fullmatch(line))]
    lines = [line for line in lines if not _PRINTED_DETAIL.fullmatch(line)]
    return Printed(
        title=lines[0] if len(lines) > 1 else "",
        date=date,
        venue=lines[-1] if lines and date else "",
        **{_PRINTED_AS[match[1]].value: match[2] for match in details},
    )


def read_glance(text: str) -> dict[Attribute, str]:
    """What a glance tells of the host and the sky."""
    return _found(_GLANCED, text)


def read_page(text: str) -> Documented:
    """The facts in the sentences of an official record."""
    host = _HOST.search(text)
    things = (number for number, noun in _THINGS.findall(text) if any(noun.startswith(kind) for kind in KINDS))
    return Documented(
        date=next(iter(_DATE.findall(text)), ""),
        venue=_first(_VENUE.search(text)),
        host=_first(host),
        number=next(things, ""),
        picture_url=_first(_PICTURE.search(text)),
        details=_found(_DETAILS, text),
    )


def _found(patterns: Mapping[Attribute, re.Pattern[str]], text: str) -> dict[Attribute, str]:
    found = {attribute: _first(pattern.search(text)) for attribute, pattern in patterns.items()}
    return {attribute: value for attribute, value in found.items() if value}


def read_rows(text: str) -> list[Row]:
    """Search results: a title line, then a line with the address."""
    lines = text.splitlines()
    return [Row(title, url) for title, url in itertools.pairwise(lines) if url.startswith("http")]


def is_edition(page_title: str, event_title: str) -> bool:
    """Whether a page is the record of an edition of the event: titled with its name, and at most a year."""
    return re.fullmatch(rf"{re.escape(event_title)}( \d{{4}})?", page_title) is not None


def read_kinds(text: str) -> list[str]:
    """The kinds of object that a description names, in its order."""
    found = [(position, kind) for kind in KINDS if (position := text.find(kind)) >= 0]
    return [kind for _, kind in sorted(found)]


def read_count(text: str) -> str:
    """The number in `balloon: 9`; empty when there is none."""
    return _first(re.search(r": (\d+)$", text.strip()))


def year_of(date: str) -> str:
    """The year of a printed date."""
    return date.rpartition(" ")[2]


def _first(match: re.Match[str] | None) -> str:
    return next((group for group in match.groups() if group), "") if match else ""
