"""What the curation agent hands in: where a topic is documented, in which words, and how that was found."""

from enum import StrEnum

from components.records.base import Record
from components.records.case import Attribute


class Topic(Record):
    """What a planner may know of an event before anybody has searched for it."""

    title: str
    year: int

    @property
    def page_title(self) -> str:
        """What the record of this edition is called: "Harvest Gala 2031"."""
        return f"{self.title} {self.year}"


class Miss(StrEnum):
    """Why nothing is proposed."""

    NOT_FOUND = "not_found"
    """No search led to a record of the event."""
    OTHER_EDITION = "other_edition"
    """Only records of other years were found."""
    NO_FACTS = "no_facts"
    """The record was opened and says neither when nor where."""
    OUTAGE = "outage"
    """A service gave no answer, so that nothing is known."""


class Statement(Record):
    """One documented attribute, and the sentence that states it."""

    attribute: Attribute
    value: str
    """As the page prints it: "12 March 2031", "9", a person's name."""
    exact_span: str
    """A whole sentence of the page."""


class Trail(Record):
    """What was done to find out, in order."""

    queries: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    """Addresses that were opened."""
    tool_calls: int = 0


class Proposal(Record):
    """The record of a topic, or the reason why there is none."""

    topic: Topic
    trail: Trail
    miss: Miss | None = None
    """None when something is proposed."""
    canonical_url: str = ""
    page_title: str = ""
    picture_url: str = ""
    """Of the page's first picture; empty when it shows none."""
    statements: tuple[Statement, ...] = ()

    def statement(self, attribute: Attribute) -> Statement | None:
        """What is documented of an attribute."""
        return next((found for found in self.statements if found.attribute is attribute), None)
