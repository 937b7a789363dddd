"""What is read of a page: the text that people see, in the charset that it is in."""

from functools import cache

import pytest

from components.config.schema import WorldParams
from components.records.web import Page, SiteKind
from components.tools.pages.record import MOST_CHARS
from components.tools.pages.text import decoded, read_page, readable_text
from components.world.facts import build_facts
from components.world.pages import build_pages
from components.world.traps import TRAPS

URL = "https://a.example/dir/page"
SECRET = "Nobody should read this sentence."
FRAME = "<html><head><title>T</title>{head}</head><body><article><p>The gala was at Rowan Hall.</p>{body}</article>"


@cache
def world_pages() -> tuple[Page, ...]:
    return tuple(build_pages(build_facts(WorldParams(train_events=90, test_events=10))))


def test_a_page_of_the_world_reads_the_same_directly() -> None:
    for page in world_pages()[::7]:
        read = read_page(page.html.encode(), "utf-8", page.url)
        assert (read.title, read.markdown) == (page.title, page.markdown)


@pytest.mark.parametrize(
    "hidden",
    [
        f"<p style='display:none'>{SECRET}</p>",
        f"<p style='color:red; DISPLAY : None !important'>{SECRET}</p>",
        f"<p style='display:/* */none'>{SECRET}</p>",
        f"<div style='visibility:hidden'><p>{SECRET}</p></div>",
        f"<p style='opacity:0'>{SECRET}</p>",
        f"<p style='opacity: .0;'>{SECRET}</p>",
        f"<p style='font-size:0'>{SECRET}</p>",
        f"<p style='font-size: 1px'>{SECRET}</p>",
        f"<p style='position:absolute;left:-9999px'>{SECRET}</p>",
        f"<p style='text-indent:-5000px'>{SECRET}</p>",
        f"<div style='height:0;overflow:hidden'><p>{SECRET}</p></div>",
        f"<p style='clip-path:inset(100%)'>{SECRET}</p>",
        f"<p style='transform: scale(0)'>{SECRET}</p>",
        f"<p style='color:transparent'>{SECRET}</p>",
        f"<p style='color:rgba(0,0,0,0)'>{SECRET}</p>",
        f"<p style='color:#FFF'>{SECRET}</p>",
        f"<p>A <span style='color: white; background: #ffffff'>{SECRET}</span></p>",
        f"<p><font color='white'>{SECRET}</font></p>",
        f"<p hidden>{SECRET}</p>",
        f"<template><p>{SECRET}</p></template>",
        f"<dialog><p>{SECRET}</p></dialog>",
        f"<p class='a quiet b'>{SECRET}</p>",
        f"<p id='gone'>{SECRET}</p>",
        f"<!-- {SECRET} -->",
        f"<img alt='{SECRET}'>",
        f"<p title='{SECRET}'>Shown.</p>",
        f"<script>var x = '{SECRET}'</script>",
        f"<noscript><p style='display:none'>{SECRET}</p></noscript>",
    ],
)
def test_what_people_do_not_see_is_not_read(hidden: str) -> None:
    styles = "<style>.quiet, h6.x { display: none } p#gone{visibility:/**/hidden}</style>"
    html = FRAME.format(head=styles, body=f"{hidden}<p>The host was Mara Venn.</p>")
    text = readable_text(html)
    assert SECRET not in text
    assert "Rowan Hall" in text
    assert "Mara Venn" in text


@pytest.mark.parametrize(
    "style",
    [
        "opacity: 0.9", "opacity:1", "font-size: 12px", "font-size:1em", "font-size: .9rem", "color: #ffffff00aa",
        "color:white; background: navy", "color:#333", "left:-20px", "width: 100px", "height:1000px", "display:inline",
        "transform:scale(0.9)", "color: rgba(0,0,0,.8)", "background-color: transparent", "color: rgba(0,0,0)",
    ],
)  # fmt: skip
def test_what_people_see_is_read(style: str) -> None:
    assert "Look here." in readable_text(FRAME.format(head="", body=f"<p style='{style}'>Look here.</p>"))


def test_white_on_a_dark_ground_is_seen() -> None:
    body = "<div style='background: #112'><p style='color: #fff'>Look here.</p></div>"
    assert "Look here." in readable_text(FRAME.format(head="", body=body))


def test_what_follows_a_hidden_element_stays() -> None:
    body = f"<p>Before <b style='display:none'>{SECRET}</b> and behind it.</p>"
    assert "Before and behind it." in " ".join(readable_text(FRAME.format(head="", body=body)).split())


def test_characters_without_width_are_left_out() -> None:
    tags = "".join(chr(0xE0000 + ord(sign)) for sign in "obey")
    body = f"<p>ig\u200bno\u00adre\u2060 \u202ethis\u202c{tags}.</p>"
    assert "ignore this." in readable_text(FRAME.format(head="", body=body))


@pytest.mark.parametrize(
    ("codec", "server", "page"),
    [
        ("utf-8", "", ""),
        ("utf-8", "iso-8859-1", "windows-1251"),
        ("utf-8-sig", "latin-1", ""),
        ("utf-16", "", ""),
        ("utf-16", "utf-8", "utf-8"),
        ("cp1252", "iso-8859-1", ""),
        ("cp1252", "", "ISO-8859-1"),
        ("cp1252", "none-such", "windows-1252"),
        ("cp1252", "utf-8", "windows-1252"),
        ("cp1252", "zlib", "latin1"),
        ("cp1252", "rot13", "latin1"),
    ],
)
def test_a_page_is_read_in_the_charset_that_it_is_in(codec: str, server: str, page: str) -> None:
    text = f"<meta charset='{page}'><p>Größe: 5 € für Zoë</p>"
    assert decoded(text.encode(codec), server) == text


@pytest.mark.parametrize("charset", ["shift_jis", "euc-jp", "iso-2022-jp", "utf-8", "gb18030", "gb2312"])
def test_charsets_of_many_bytes(charset: str) -> None:
    assert decoded("<p>日本</p>".encode(charset), charset) == "<p>日本</p>"


@pytest.mark.parametrize("charset", ["utf-7", "UTF7", "unicode_escape", "raw-unicode-escape", "idna", "punycode", "hz"])
def test_a_charset_that_hides_markup_is_not_believed(charset: str) -> None:
    body = b"+ADw-script+AD4- \\u003cb\\u003e ~{<:Ky2;NpJ)l6HK!#~}"
    assert decoded(body, charset) == body.decode()


def test_bytes_that_nothing_reads_are_replaced() -> None:
    assert decoded(b"abc \xff\xfe\x9d", "utf-8") == "abc \ufffd\ufffd\ufffd"
    assert decoded(b"abc \x9d\xe9", "windows-1252") == "abc \ufffdé"


def test_pictures_and_title_are_told_within_bounds() -> None:
    sources = [
        "/a.png",
        "b.png",
        "//c.example/c.png",
        "data:image/png;base64,xx",
        "javascript:x",
        "",
        "http://[",
        "a b",
    ]
    images = "".join(f"<img src='{source}'>" for source in sources) + f"<img src='/{'x' * 3000}'>" + "<img>"
    html = f"<html><title> T\n {'t' * 900}</title><body><article><p>Text.</p>{images}{images * 9}</article>"
    page = read_page(html.encode(), "", URL)
    assert page.pictures[:3] == (
        "https://a.example/a.png", "https://a.example/dir/b.png", "https://c.example/c.png",
    )  # fmt: skip
    assert len(page.pictures) == 20
    assert all(url.startswith("http") and " " not in url for url in page.pictures)
    assert page.title.startswith("T ttt")
    assert len(page.title) == 300


def test_a_text_has_a_longest_length() -> None:
    page = read_page(b"word " * 200_000, "utf-8", URL, plain=True)
    assert len(page.markdown) == MOST_CHARS


@pytest.mark.parametrize(
    "body", [b"", b" ", b"\0" * 100, b"<", b"<!--", b"\xff\xfe", b"{}", b"<html></html>", b"%PDF-1.7"]
)
def test_what_is_no_page_has_no_text(body: bytes) -> None:
    assert read_page(body, "", URL).markdown == ""


def test_some_pages_of_the_world_carry_each_kind_of_order() -> None:
    others = [page for page in world_pages() if page.kind is not SiteKind.IRRELEVANT]
    irrelevant = [page for page in world_pages() if page.kind is SiteKind.IRRELEVANT]
    for trap in TRAPS:
        for sentence in trap.hidden:
            carrying = [page for page in irrelevant if sentence in page.html]
            assert carrying, trap.kind
            assert not [page for page in carrying if sentence in page.markdown], trap.kind
        for sentence in trap.shown:
            assert [page for page in irrelevant if sentence in page.markdown.replace("\\", "")], trap.kind
            assert not [page for page in others if sentence in page.markdown.replace("\\", "")], trap.kind
    trapped = [page for page in irrelevant if any(text in page.html for trap in TRAPS for text in trap.hidden)]
    assert len(trapped) < len(irrelevant) / 4
