"""Which addresses a benchmark keeps from investigations: the places that its pictures were collected from."""

from collections.abc import Iterable

from components.records.base import Record
from components.records.case import Gold


class SourceAccess(Record):
    """Public to the runtime, and never shown to a policy; fact-checking sites are blocked besides.

    It tells nothing of single cases: addresses are sorted, and every post has two.
    """

    schema_version: str = "source-access-policy-v1"
    excluded_urls: tuple[str, ...] = ()
    """Of pages and pictures."""


def excluding(golds: Iterable[Gold]) -> SourceAccess:
    """Keeps everything that `golds` were collected from from everybody."""
    sources = (gold.provenance.source for gold in golds if gold.provenance)
    urls = {url for source in sources if source for url in source.addresses}
    return SourceAccess(excluded_urls=tuple(sorted(urls)))
