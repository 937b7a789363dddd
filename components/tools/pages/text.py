"""What a reader sees of a page: its text as markdown, without navigation, footers, and what is hidden from people.

The closed world's page reader and the direct reader both use it, so that a page reads the same either way.
"""

import codecs
import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import trafilatura
from lxml.html import HtmlElement

from components.tools.pages.hiding import drop_hidden
from components.tools.pages.invisible import without_invisible
from components.tools.pages.record import MOST_CHARS, PageText

_MOST_PICTURES = 20
_LONGEST_URL = 2000
_LONGEST_TITLE = 300
_HEAD = 2048
"""Bytes in which a page may declare its charset; browsers look at 1024."""
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDENED = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030"}
"""Charsets that browsers read as a larger one, because servers name the smaller one."""
_NOT_CHARSETS = re.compile(r"utf_?7|utf_?32|idna|punycode|(?:raw_)?unicode_|oem|mbcs|undefined|hz|iso_?2022_?kr", re.I)
"""Codecs of Python's that are no charsets of pages, or that hide markup from whoever looks at the bytes."""
_NOT_UTF8 = re.compile(rb"[\x00\x1b]")
"""UTF-16 and the charsets that switch by escapes can look like UTF-8, but have these."""


def readable_text(html: str) -> str:
    """What a page reader returns for a page: markdown; empty when there is no text.

    Not to be called from several threads at once: the extractor keeps state.
    """
    tree = trafilatura.load_html(html)
    return "" if tree is None else _markdown(tree)


def read_page(body: bytes, charset: str, url: str, *, plain: bool = False) -> PageText:
    """All that is read of a page.

    Args:
        body: as it was fetched, unpacked.
        charset: as its server names it; empty when it does not.
        url: where it came from.
        plain: whether it is text without markup.

    """
    text = decoded(body, charset)
    if plain:
        return PageText(markdown=without_invisible(text)[:MOST_CHARS])
    tree = trafilatura.load_html(text)
    if tree is None:
        return PageText()
    markdown = _markdown(tree)
    title = " ".join(without_invisible(tree.findtext(".//title") or "").split())
    return PageText(title=title[:_LONGEST_TITLE], markdown=markdown, pictures=tuple(_pictures(tree, url)))


def decoded(body: bytes, charset: str) -> str:
    """A body as text: by its byte order mark, as UTF-8 if it is that, by its server's word, or by its own.

    Servers are wrong about UTF-8 more often than text of another charset is valid UTF-8. What nothing reads whole has
    its bad bytes replaced; nothing is guessed from statistics.
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    declared = _META.search(body[:_HEAD])
    named = (charset, declared[1].decode("ascii", "replace") if declared else "")
    codecs_named = [codec for codec in map(_codec, named) if codec]
    tried = codecs_named if _NOT_UTF8.search(body) else ["utf-8", *codecs_named]
    for codec in tried:
        try:
            return body.decode(codec)
        except (UnicodeError, ValueError):
            continue
    return body.decode(codecs_named[0] if codecs_named else "utf-8", "replace")


def _codec(name: str) -> str | None:
    """Python's name for a charset; None for none, and for what is not one of pages."""
    if not name or _NOT_CHARSETS.match(name.replace("-", "_")):
        return None
    try:
        found = codecs.lookup(name)
        # Of Python's codecs some turn text into text or bytes into bytes; those are refused here.
        b"text".decode(name)
    except (LookupError, UnicodeError, ValueError):
        return None
    return _WIDENED.get(found.name, found.name)


def _markdown(tree: HtmlElement) -> str:
    drop_hidden(tree)
    text = trafilatura.extract(tree, output_format="markdown", fast=True, include_comments=False) or ""
    return without_invisible(text)[:MOST_CHARS]


def _pictures(tree: HtmlElement, url: str) -> Iterator[str]:
    left = _MOST_PICTURES
    for image in tree.iter("img"):
        address = _address(image.get("src") or "", url)
        if left and address:
            left -= 1
            yield address


def _address(source: str, base: str) -> str:
    """An address that can be fetched, or nothing."""
    try:
        address = urljoin(base, source.strip())
        parts = urlsplit(address)
    except ValueError:
        return ""
    usable = parts.scheme in ("http", "https") and bool(parts.netloc) and len(address) <= _LONGEST_URL
    return address if usable and source.strip() and not any(map(str.isspace, address)) else ""
