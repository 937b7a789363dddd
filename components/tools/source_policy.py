"""What an investigation may not use: sites with ready-made verdicts, and where its picture was found (EviScene).

A site hands out verdicts when its host name contains a marker. A benchmark also excludes the addresses, and these
alone, that its pictures were collected from. Both count also when the address is wrapped: by an archive, an image
proxy, a page reader, or any address that carries another one. What is blocked is never shown, and cannot be opened.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import unquote, urlsplit

from components.config.paths import Paths
from components.records.source_access import SourceAccess
from components.tools.urls import same_address, site_of

MARKERS: tuple[str, ...] = (
    "factcheck", "fact-check", "factcrescendo", "factly", "factraker", "fullfact", "leadstories", "checkyourfact",
    "newschecker", "vishvasnews", "youturn", "altnews", "boomlive", "logicallyfacts", "politifact", "snopes", "misbar",
    "verafiles", "thip.media", "healthfeedback", "sochfactcheck", "check4spam", "fakenews.pl",
)  # fmt: skip
"""Parts of host names of fact-checking sites."""

_PROXY_HOST = re.compile(r"i[0-9]\.wp\.com")
_HOST_IN_PATH = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}", re.IGNORECASE)
_EMBEDDED = re.compile(r"https?:/{1,2}[^\s\"'<>]+", re.IGNORECASE)
_LOST_SLASH = re.compile(r"(?<=http|ttps):/+(?!/)", re.IGNORECASE)
_ADDRESS_END = re.compile(r"[?&#\s\"'<>]")
_DEPTH = 3
"""How many wrappings are opened, and how many encodings undone."""


@dataclass(frozen=True)
class SourcePolicy:
    """What is blocked."""

    markers: tuple[str, ...] = MARKERS
    excluded: frozenset[str] = frozenset()
    """Addresses of single pages and pictures."""

    @property
    def digest(self) -> str:
        """Names this policy in records and cache keys."""
        return hashlib.sha256("\n".join((*self.markers, *sorted(self.excluded))).encode()).hexdigest()[:16]

    def blocks_url(self, url: str) -> bool:
        """Whether the address, or one wrapped in it, is excluded or stands on a blocked site."""
        return any(self._blocks_host(host) for host in _hosts_of(url)) or self._excludes(url)

    def blocks_text(self, text: str) -> bool:
        """Whether a title, snippet or query names a blocked site or page, by address or as people write it."""
        return self._named.search(text) is not None or self._excludes(text)

    def _excludes(self, text: str) -> bool:
        """Whether an excluded address occurs in an address or in a text, up to where an address ends."""
        if not self.excluded:
            return False
        plain = _decoded(text)
        tails = (plain[match.start() :] for match in self._excluded_hosts.finditer(plain))
        return any(same_address(f"//{_ADDRESS_END.split(tail, maxsplit=1)[0]}") in self._addresses for tail in tails)

    @cached_property
    def _addresses(self) -> frozenset[str]:
        return frozenset(map(same_address, self.excluded))

    @cached_property
    def _excluded_hosts(self) -> re.Pattern[str]:
        """Where an address on a host of an excluded one begins."""
        hosts = sorted({site_of(url) for url in self.excluded})
        return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, hosts))})(?=[.:/])", re.IGNORECASE)

    def _blocks_host(self, host: str) -> bool:
        return any(marker in host for marker in self.markers)

    @cached_property
    def _named(self) -> re.Pattern[str]:
        """Every marker at the start of a word; `fact check` is read in all its spellings."""
        alternatives = "|".join(re.escape(marker) for marker in self.markers)
        return re.compile(rf"\b(?:{alternatives}|fact[\s_-]?check)", re.IGNORECASE)


def policy_of(paths: Paths) -> SourcePolicy:
    """The policy of the checkout's benchmark: what it excludes, and the markers; the markers alone without one."""
    if not paths.source_access.exists():
        return SourcePolicy()
    return policy_from(SourceAccess.model_validate_json(paths.source_access.read_text("utf-8")))


def policy_from(access: SourceAccess) -> SourcePolicy:
    """The markers, and what a benchmark excludes."""
    return SourcePolicy(excluded=frozenset(access.excluded_urls))


@lru_cache(maxsize=8192)
def _hosts_of(url: str) -> tuple[str, ...]:
    return tuple(_hosts(url))


def _hosts(url: str, depth: int = _DEPTH) -> Iterator[str]:
    """The host of an address and of every address inside it, in lower case."""
    plain = _decoded(url)
    try:
        parts = urlsplit(plain if "//" in plain else f"//{plain}")
        host = (parts.hostname or "").lower()
    except ValueError:
        # Not an address that anything could open; its text is searched for others all the same.
        host, parts = "", urlsplit("")
    yield host
    if depth == 0:
        return
    if _PROXY_HOST.fullmatch(host) and (match := _HOST_IN_PATH.match(parts.path.lstrip("/"))):
        yield match.group().lower()
    for match in _EMBEDDED.finditer(plain, 1):
        yield from _hosts(match.group(), depth - 1)


def _decoded(url: str) -> str:
    """Without percent-encoding, however often it was applied, and with both slashes that archives tend to lose."""
    plain = url.strip()
    for _ in range(_DEPTH):
        plain = unquote(plain)
    return _LOST_SLASH.sub("://", plain)
