"""Whether the evidence of gold records still stands where they say, word for word, as the page reader reads it."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence

from components.config.paths import Paths
from components.config.schema import Params
from components.errors import EviflowError
from components.progress import track
from components.records.base import Record
from components.records.case import Gold
from components.records.image_bank import ImageBank
from components.tools.clients.errors import NotThere
from components.tools.services import Services, open_services
from components.tools.source_policy import SourcePolicy


class Violation(Record):
    """Evidence that a page does not bear out."""

    case_id: str
    canonical_url: str
    exact_span: str
    problem: str
    """As a clause: "the page is not there"."""

    def __str__(self) -> str:
        return f"{self.case_id}: {self.problem}: {self.canonical_url}, {self.exact_span!r}"


def find_violations(golds: Sequence[Gold], params: Params, paths: Paths) -> list[Violation]:
    """Read every page that a gold record names, once, and look for every span.

    Raises:
        EviflowError: the world is not built.
        ServiceError: the page reader gives no answer.

    """
    urls = list(dict.fromkeys(evidence.canonical_url for gold in golds for evidence in gold.acceptable_evidence))

    async def read() -> dict[str, str | None]:
        bank = ImageBank(paths.work / "curator")
        async with open_services(params.on_world(), paths, bank, policy=SourcePolicy()) as services:
            return {url: await _text(services, url) for url in track(urls, "checking evidence", len(urls), "pages")}

    texts = asyncio.run(read())
    return [violation for gold in golds for violation in _violations(gold, texts)]


def ensure_documented(golds: Sequence[Gold], params: Params, paths: Paths) -> None:
    """Raise EviflowError, which names the violations, unless every page bears its evidence out."""
    if found := find_violations(golds, params, paths):
        raise EviflowError(
            f"{len(found)} pieces of evidence do not stand where the gold records say, {_some(found)}; "
            "build the world again with `eviflow stage world`, then the benchmark"
        )


async def _text(services: Services, url: str) -> str | None:
    """The page as the reader gives it; None when there is no such page."""
    try:
        return (await services.reader.read(url)).content
    except NotThere:  # a violation, told as such
        return None


def _violations(gold: Gold, texts: dict[str, str | None]) -> Iterator[Violation]:
    for evidence in gold.acceptable_evidence:
        text = texts[evidence.canonical_url]
        if text is None or evidence.exact_span not in text:
            yield Violation(
                case_id=gold.case_id,
                canonical_url=evidence.canonical_url,
                exact_span=evidence.exact_span,
                problem="the page is not there" if text is None else "the page does not say so",
            )


def _some(found: Iterable[Violation]) -> str:
    return "; ".join(map(str, list(found)[:3]))
