"""What an investigation has established so far: what the picture shows, what the record says, and how they compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from components.policies.reading import (
    OTHER_EDITION,
    Call,
    Documented,
    Printed,
    Row,
    calls_of,
    is_edition,
    read_count,
    read_glance,
    read_page,
    read_printed,
    read_rows,
    year_of,
)
from components.records.case import Attribute
from components.records.conversation import Message
from components.records.marks import marked

_READINGS = ("ocr_with_position", "crop_and_inspect")
_POST = "@"
"""What titles of posts begin with; anybody can post anything, so posts are left alone."""


@dataclass(frozen=True)
class Finding:
    """One attribute, as pictured and as documented, with the observations that show each."""

    clause: str
    """As the report states it."""
    differs: bool
    cited: tuple[str, ...]
    """The last one is the observation that completed the comparison."""


class Casebook:
    """All that follows from the answers so far.

    Args:
        messages: the conversation.

    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self.calls = calls_of(messages)

    # Calls.

    def made(self, tool: str) -> list[Call]:
        """Executed calls of a tool."""
        return [call for call in self.calls if call.tool == tool and call.observation_id]

    def tried(self, tool: str, argument: str | None = None) -> bool:
        """Whether a tool was called, refused or not; with a certain argument if one is given."""
        return any(call.tool == tool and argument in (None, argument_of(call)) for call in self.calls)

    def answer(self, tool: str) -> str:
        """What a tool said last; empty when it said nothing yet."""
        made = self.made(tool)
        return made[-1].text if made else ""

    # The picture.

    @cached_property
    def printed(self) -> Printed:
        """What is printed in the picture, completed by a closer look."""
        whole, closer = (read_printed(self.answer(tool)) for tool in _READINGS)
        known = {name: value or getattr(closer, name) for name, value in whole._asdict().items()}
        return Printed(**(known | {"title": whole.title}))

    @cached_property
    def glanced(self) -> dict[Attribute, str]:
        """What a glance told of the host and the sky."""
        return read_glance(self.answer("perceive_scene"))

    @cached_property
    def count(self) -> Call | None:
        """The count that found something."""
        return next((call for call in self.made("count_objects") if read_count(call.text) not in ("", "0")), None)

    # The record.

    @cached_property
    def pages(self) -> list[tuple[Call, Documented]]:
        """Opened pages that document an event."""
        pages = [(call, read_page(call.text)) for call in self.made("visit")]
        return [(call, page) for call, page in pages if page.date and page.venue]

    @cached_property
    def record(self) -> tuple[Call, Documented] | None:
        """The page that documents the event: the first that is not another edition's, else the last one."""
        right = (found for found in self.pages if self.is_of_event(*found))
        return next(right, self.pages[-1] if self.pages else None)

    def is_of_event(self, call: Call, page: Documented) -> bool:
        """Whether a page does not contradict the picture in several details."""
        return sum(finding.differs for finding in self.compared(call, page)) < OTHER_EDITION

    @cached_property
    def unopened(self) -> list[Row]:
        """Editions of the event and pages with similar pictures that were found and not opened, as they were found."""
        return [row for row in self._named_editions + self._similar_rows if not self.tried("visit", row.url)]

    @cached_property
    def similar(self) -> list[Row]:
        """Pages with similar pictures, the record left out, the most similar first."""
        record_url = argument_of(self.record[0]) if self.record else ""
        return [row for row in self._similar_rows if row.url != record_url]

    @property
    def similar_compared(self) -> list[str]:
        """The titles of similar pictures' pages beside the record's, down to the first that is not the record."""
        if self.record is None or not self.similar:
            return []
        ends = self._similar_rows.index(self.similar[0]) + 1
        return [_compared("title", self._title_of(self.record[0]), row.title) for row in self._similar_rows[:ends]]

    def compared_down_to(self, row: Row) -> list[str]:
        """The titles of found editions beside that of the page opened last, down to one that was not opened."""
        found = [*self._named_editions, *self._similar_rows]
        opened = self._title_of(self.pages[-1][0])
        return [_compared("title", opened, other.title) for other in found[: found.index(row) + 1]]

    def _title_of(self, call: Call) -> str:
        """What an opened page was called where it was found."""
        found = (row for made in self.calls for row in read_rows(made.text) if row.url == argument_of(call))
        return next((row.title for row in found), self.printed.title)

    @cached_property
    def _named_editions(self) -> list[Row]:
        named = [row for call in self.made("text_search") for row in read_rows(call.text)]
        return [row for row in named if is_edition(row.title, self.printed.title)]

    @cached_property
    def _similar_rows(self) -> list[Row]:
        found = [row for call in self.made("reverse_image_search") for row in read_rows(call.text)]
        return [row for row in found if not row.title.startswith(_POST)]

    @property
    def origin(self) -> Row | None:
        """The other edition that has the most similar picture, from which this one may have been taken."""
        return next((row for row in self.similar[:1] if is_edition(row.title, self.printed.title)), None)

    # Pictures to compare with.

    def portraits(self, name: str) -> list[str]:
        """Addresses of pictures that a search for a person found under that name."""
        searches = [call for call in self.made("text_image_search") if argument_of(call) == name]
        return [row.url for call in searches for row in read_rows(call.text) if name in row.title]

    def comparison(self, urls: Sequence[str], what: str) -> Call | None:
        """The first comparison with one of `urls` that told something about `what`, person or scene."""
        compared = [call for call in self.made("compare_with_reference") if argument_of(call) in urls]
        telling = (f"same {what}", f"different {what}")
        return next((call for call in compared if any(words in call.text for words in telling)), None)

    def host_pictures(self) -> list[str]:
        """Where the host can be seen: the record's photograph, then portraits."""
        if self.record is None:
            return []
        _, page = self.record
        return [url for url in (page.picture_url, *self.portraits(page.host)) if url]

    # How they compare.

    @cached_property
    def findings(self) -> list[Finding]:
        """Every attribute for which picture and record are both known."""
        if self.record is None:
            return []
        return [*self.compared(*self.record), *self._people(*self.record), *self._photo(*self.record)]

    @property
    def photo_known(self) -> bool:
        """Whether it is settled which event's scene the picture is."""
        return any(finding.clause.startswith(Attribute.PHOTO.value) for finding in self.findings)

    @property
    def differing(self) -> list[Finding]:
        """The findings that contradict the picture."""
        return [finding for finding in self.findings if finding.differs]

    def compared(self, call: Call, page: Documented) -> list[Finding]:
        """What a page and the picture both give in words or numbers."""
        known = {Attribute.DATE: page.date, Attribute.VENUE: page.venue, Attribute.COUNT: page.number, **page.details}
        found = []
        for attribute, documented in known.items():
            pictured, source = self._pictured(attribute)
            if pictured and documented and source:
                found.append(_finding(attribute, pictured, documented, source, call))
        return found

    def _pictured(self, attribute: Attribute) -> tuple[str, Call | None]:
        """A detail as the picture shows it, and the observation that told it."""
        if attribute is Attribute.COUNT:
            return (read_count(self.count.text), self.count) if self.count else ("", None)
        if attribute in self.glanced:
            return self.glanced[attribute], self.made("perceive_scene")[-1]
        return getattr(self.printed, attribute.value, ""), self._reading_of(attribute.value)

    def _reading_of(self, name: str) -> Call | None:
        """The last call of the first reading that shows a printed detail."""
        readings = (self.made(tool)[-1:] for tool in _READINGS)
        return next((call for made in readings for call in made if getattr(read_printed(call.text), name, "")), None)

    def _people(self, record: Call, page: Documented) -> list[Finding]:
        """Whether the host, and who met the host, are those of the record."""
        guest = page.details.get(Attribute.GUEST, "")
        seen = [
            (Attribute.HOST, page.host, self.comparison(self.host_pictures(), "person")),
            (Attribute.GUEST, guest, self.comparison(self.portraits(guest), "person")),
        ]
        return [
            Finding(
                f"{attribute} {name} {told.text.partition(';')[0]}",
                told.text.startswith("different"),
                (record.observation_id, told.observation_id),
            )
            for attribute, name, told in seen
            if name and told
        ]

    def _photo(self, record: Call, page: Documented) -> list[Finding]:
        """Of which event's scene the picture is: the record's own, or that of another page that was opened."""
        for call, other in self.pages:
            told = self.comparison([other.picture_url], "scene") if other.picture_url else None
            if told and "same scene" in told.text:
                cited = dict.fromkeys((record.observation_id, call.observation_id, told.observation_id))
                taken, known = year_of(other.date), year_of(page.date)
                return [Finding(_compared(Attribute.PHOTO, taken, known), taken != known, tuple(cited))]
        return []


def _compared(name: str, first: str, second: str) -> str:
    """Two values side by side, the second marked where it differs, and whether they are the same."""
    return f"{name} {first} vs {marked(second, first)} {'same' if first == second else 'differs'}"


def _finding(attribute: Attribute, pictured: str, documented: str, source: Call, page: Call) -> Finding:
    differs = pictured != documented
    return Finding(
        _compared(attribute, pictured, documented),
        differs,
        (source.observation_id, page.observation_id),
    )


def argument_of(call: Call) -> str:
    """The one argument of a call; empty for a call without."""
    return next(iter(call.arguments_dict.values()), "")
