"""From what a visit showed of a page to statements: attributes with the sentences that document them."""

import re

from components.curation.curator.proposal import Statement
from components.policies.reading import Documented, read_page, year_of
from components.records.case import Attribute

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def statements_of(text: str) -> tuple[Statement, ...]:
    """Every attribute that a page states, each with the first sentence that states it, in the order of `Attribute`."""
    found: dict[Attribute, Statement] = {}
    for sentence in _sentences(text):
        for attribute, value in _facts(read_page(sentence)).items():
            found.setdefault(attribute, Statement(attribute=attribute, value=value, exact_span=sentence))
    return tuple(found[attribute] for attribute in Attribute if attribute in found)


def _sentences(text: str) -> list[str]:
    """The sentences of the passages, one after another; the line that names a picture is no passage."""
    passages = [line for line in text.splitlines() if not line.startswith("picture: ")]
    return [sentence for passage in passages for sentence in _SENTENCE_END.split(passage) if sentence]


def _facts(page: Documented) -> dict[Attribute, str]:
    known = {
        Attribute.DATE: page.date,
        Attribute.VENUE: page.venue,
        Attribute.HOST: page.host,
        Attribute.COUNT: page.number,
        Attribute.PHOTO: year_of(page.date),  # a photograph on the page was taken in the year of its event
        **page.details,
    }
    return {attribute: value for attribute, value in known.items() if value}
