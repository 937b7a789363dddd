"""Recovering the source of a posted picture: which event it claims to show, and what of it the record bears out.

The agent works with an investigator's tools and limits.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from components.curation.collecting.find import Found, Post
from components.curation.collecting.portraits import Portraits
from components.curation.curator.desk import Desk
from components.curation.curator.proposal import Statement, Topic
from components.curation.curator.statements import statements_of
from components.curation.screen import Reason
from components.policies.reading import (
    OTHER_EDITION,
    Row,
    is_edition,
    read_count,
    read_glance,
    read_kinds,
    read_page,
    read_printed,
    read_rows,
    year_of,
)
from components.records.case import Attribute, Check
from components.records.image_bank import ImageBank
from components.tools import vision


class _Record(NamedTuple):
    """An opened page that documents an edition of an event."""

    url: str
    title: str
    """Without the year."""
    stated: dict[Attribute, Statement]
    picture_url: str

    def value(self, attribute: Attribute) -> str:
        """As documented; empty when the page does not say."""
        return self.stated[attribute].value if attribute in self.stated else ""


class Recovery:
    """One picture on one desk.

    Args:
        post: the picture as it was posted.
        desk: has the tools.
        portraits: whom a face may belong to.
        bank: has the picture.

    """

    def __init__(self, post: Post, desk: Desk, portraits: Portraits, bank: ImageBank) -> None:
        self._post = post
        self._desk = desk
        self._portraits = portraits
        self._bank = bank
        self._title = ""
        self._shown: dict[Attribute, str] = {}
        self._looked_up: list[Row] | None = None
        self._opened: dict[str, _Record | None] = {}

    async def run(self) -> Found | Reason:
        """What was found out, or why it is not enough."""
        await self._look()
        record = await self._find_record()
        if record is None:
            return Reason.SOURCE_NOT_FOUND
        await self._look_at_people(record)
        await self._look_at_scene(record)
        checks = tuple(self._checks(record))
        complete = {check.attribute for check in checks} >= record.stated.keys() - {Attribute.PHOTO}
        if not complete or sum(not check.holds for check in checks) > 1:
            return Reason.SOURCE_UNCLEAR
        return Found(
            post=self._post,
            topic=Topic(title=record.title, year=int(year_of(record.value(Attribute.DATE)))),
            recovered_by="title" if self._title else "picture",
            checks=checks,
            trail=self._desk.trail,
        )

    # The picture.

    async def _look(self) -> None:
        printed = read_printed(await self._answer("ocr_with_position"))
        self._title = printed.title
        lines = {Attribute(name): text for name, text in printed._asdict().items() if name != "title"}
        glance = await self._answer("perceive_scene")
        counts = [read_count(await self._answer("count_objects", target_object=kind)) for kind in read_kinds(glance)]
        count = next((count for count in counts if count not in ("", "0")), "")
        seen = lines | {Attribute.COUNT: count} | read_glance(glance)
        self._shown = {attribute: value for attribute, value in seen.items() if value}

    async def _look_at_people(self, record: _Record) -> None:
        """Host and guest by the names that the record gives; who else is there, by all portraits."""
        documented = {role: name for role in (Attribute.HOST, Attribute.GUEST) if (name := record.value(role))}
        for role, name in documented.items():
            photo = [record.picture_url] if role is Attribute.HOST and record.picture_url else []
            same = await self._shows(photo, "person")
            if same is None:
                same = await self._shows(await self._portraits_of(name), "person")
            if same is not None:
                self._shown[role] = name if same else self._stranger(documented.values())

    def _stranger(self, documented: Iterable[str]) -> str:
        """The one person who is in the picture and not in the record; empty when it is nobody known, or several."""
        others = self._portraits.told(vision.look(self._bank.open(self._post.sha256))) - set(documented)
        return next(iter(others)) if len(others) == 1 else ""

    async def _look_at_scene(self, record: _Record) -> None:
        """The year of the edition whose photograph has the picture's scene, if it can be found."""
        if record.picture_url:
            self._shown[Attribute.PHOTO] = record.value(Attribute.PHOTO)
        others = [row for row in await self._similar() if is_edition(row.title, record.title) and row.url != record.url]
        for row in others:
            other = await self._record(row)
            if other and other.picture_url and await self._shows([other.picture_url], "scene"):
                self._shown[Attribute.PHOTO] = other.value(Attribute.PHOTO)
                return

    # The record.

    async def _find_record(self) -> _Record | None:
        if not self._title:
            return await self._first_fitting(await self._similar())
        year = year_of(self._shown.get(Attribute.DATE, ""))
        for query in (self._title, f"{self._title} {year}".strip()):
            rows = read_rows(await self._answer("text_search", query=query))
            if record := await self._first_fitting([row for row in rows if is_edition(row.title, self._title)]):
                return record
        return None

    async def _first_fitting(self, rows: Sequence[Row]) -> _Record | None:
        """The first page that is not another edition's."""
        for row in rows:
            record = await self._record(row)
            if record and sum(not check.holds for check in self._checks(record)) < OTHER_EDITION:
                return record
        return None

    async def _record(self, row: Row) -> _Record | None:
        """A page, opened once, as a record; None when it says neither when nor where."""
        if row.url not in self._opened:
            self._opened[row.url] = await self._open(row)
        return self._opened[row.url]

    async def _open(self, row: Row) -> _Record | None:
        text = await self._answer("visit", url=row.url)
        stated = {statement.attribute: statement for statement in statements_of(text)}
        if not {Attribute.DATE, Attribute.VENUE} <= stated.keys():
            return None
        title = row.title.removesuffix(f" {year_of(stated[Attribute.DATE].value)}")
        return _Record(row.url, title, stated, read_page(text).picture_url)

    def _checks(self, record: _Record) -> Iterator[Check]:
        """What is known of picture and record alike."""
        for attribute in Attribute:
            if self._shown.get(attribute) and attribute in record.stated:
                depicted, documented = self._shown[attribute], record.value(attribute)
                yield Check(attribute=attribute, depicted=depicted, documented=documented)

    # Tools.

    async def _similar(self) -> list[Row]:
        """Pages with similar pictures; the search is made once."""
        if self._looked_up is None:
            self._looked_up = read_rows(await self._answer("reverse_image_search"))
        return self._looked_up

    async def _portraits_of(self, name: str) -> list[str]:
        rows = read_rows(await self._answer("text_image_search", query=name))
        return [row.url for row in rows if name in row.title]

    async def _shows(self, urls: Sequence[str], what: str) -> bool | None:
        """Whether the picture shows the person or scene of the first of `urls` that can be compared."""
        for url in urls:
            told = await self._answer("compare_with_reference", reference_url=url)
            if f"same {what}" in told or f"different {what}" in told:
                return f"same {what}" in told
        return None

    async def _answer(self, tool: str, **arguments: str) -> str:
        """What a tool said; empty when it found nothing."""
        observation = await self._desk.use(tool, **arguments)
        return observation.text if observation else ""
