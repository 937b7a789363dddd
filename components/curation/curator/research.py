"""Finding the record of a topic: plan searches, open what is titled like it, read what the page says."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.curator.desk import Desk, results_of
from components.curation.curator.proposal import Miss, Proposal, Topic
from components.curation.curator.statements import statements_of
from components.policies.reading import Row, is_edition, read_page, read_rows
from components.progress import track
from components.records.case import Attribute
from components.records.image_bank import ImageBank
from components.tools.services import open_services
from components.tools.source_policy import SourcePolicy

_YEAR = re.compile(r"\d{4}")

Research = Mapping[Topic, Proposal]
"""What was found out, by topic."""


def research_topics(topics: Iterable[Topic], params: Params, paths: Paths) -> dict[Topic, Proposal]:
    """Research every topic once, in order.

    Raises:
        EviflowError: the world is not built.

    """
    wanted = list(dict.fromkeys(topics))

    async def run() -> dict[Topic, Proposal]:
        # Not the policy of a benchmark that lies here: this one is still to be made.
        bank = ImageBank(paths.work / "curator")
        async with open_services(params.on_world(), paths, bank, policy=SourcePolicy()) as services:
            return {
                topic: await research(topic, Desk(services, "topic", params.agent.action_budget))
                for topic in track(wanted, "researching", len(wanted), "topics")
            }

    return asyncio.run(run())


async def research(topic: Topic, desk: Desk) -> Proposal:
    """What is documented of one topic; the first page that is the record of this edition settles it."""
    return await _Research(topic, desk).run()


class _Research:
    """One topic on one desk."""

    def __init__(self, topic: Topic, desk: Desk) -> None:
        self._topic = topic
        self._desk = desk
        self._miss = Miss.NOT_FOUND

    async def run(self) -> Proposal:
        """The next search is made only when the last one led nowhere."""
        topic, desk = self._topic, self._desk
        for query in (topic.page_title, topic.title, f"{topic.title} official record {topic.year}"):
            found = await desk.use("text_search", query=query)
            if proposal := await self._open(read_rows(found.text) if found else []):
                return proposal
        pictures = results_of(await desk.use("text_image_search", query=topic.page_title))
        # A caption begins with the title of what it shows: "Harvest Gala 2031, official photograph".
        shown_on = [Row(row["title"].partition(",")[0], row["link"]) for row in pictures]
        proposal = await self._open(shown_on)
        return proposal or Proposal(topic=topic, trail=desk.trail, miss=Miss.OUTAGE if desk.outage else self._miss)

    async def _open(self, rows: Sequence[Row]) -> Proposal | None:
        """Open what may be the record: no news, no posts, no other years, nothing twice."""
        for row in rows:
            if not is_edition(row.title, self._topic.title) or self._desk.opened(row.url):
                continue
            if row.title not in (self._topic.title, self._topic.page_title):
                self._missed(Miss.OTHER_EDITION)
            elif (found := await self._desk.use("visit", url=row.url)) and (read := self._read(row, found.text)):
                return read
        return None

    def _read(self, row: Row, text: str) -> Proposal | None:
        """What an opened page documents of the topic; a date of another year makes it another edition's."""
        statements = statements_of(text)
        known = {found.attribute: found.value for found in statements}
        if not {Attribute.DATE, Attribute.VENUE} <= known.keys():
            self._missed(Miss.NO_FACTS)
            return None
        if _YEAR.findall(known[Attribute.DATE]) != [str(self._topic.year)]:
            self._missed(Miss.OTHER_EDITION)
            return None
        return Proposal(
            topic=self._topic,
            trail=self._desk.trail,
            canonical_url=row.url,
            page_title=row.title,
            picture_url=read_page(text).picture_url,
            statements=statements,
        )

    def _missed(self, miss: Miss) -> None:
        """Remember the miss that came nearest to the record."""
        order = (Miss.NOT_FOUND, Miss.OTHER_EDITION, Miss.NO_FACTS)
        self._miss = max(self._miss, miss, key=order.index)
