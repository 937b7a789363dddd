"""A web server on loopback that serves what no honest one would, and the pages that it serves.

`GET /KIND/SEED` is answered the same way every time: kind and seed say all about it. Nothing but raw sockets can break
the protocol in so many ways, hence no library.
"""

import asyncio
import gzip
import random
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

ENDLESS = 1 << 40
HUGE = 50 * 2**20
CHUNK = 2**16

SAMPLES = (
    """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Harvest Gala 2031</title></head><body>
<header><nav><ul><li><a href="/">Home</a></li></ul></nav></header><main><article><h1>Harvest Gala 2031</h1>
<figure><img src="/photo.png" alt="Official photograph"></figure><p>This page is the permanent record of the event.</p>
<p>Harvest Gala was held on 12 March 2031 at Rowan Hall. Mara Venn was the host. 9 lanterns were on display.</p>
</article></main><footer><p>All rights reserved.</p></footer></body></html>""",
    """<html><head><title>Größe & Maß: Übersicht</title><style>.x{display:none}</style><script>var a = "</p>";</script>
</head><body><table><tr><th>Jahr</th><th>Gäste</th></tr><tr><td>2031</td><td>1.200</td></tr></table>
<div class="x">hidden</div><ul><li>Äpfel<li>Öl<li>Überall</ul><blockquote>Ein Zitat, das länger ist.</blockquote>
<p>日本語の文章がここにあります。</p><p>Текст на русском языке.</p><pre>code &lt;b&gt;</pre></body></html>""",
    """<html xmlns="http://www.w3.org/1999/xhtml"><body><form><input value="1"><select><option>a</select></form>
<svg><text>drawn</text></svg><math><mi>x</mi></math><iframe src="https://a.example/"></iframe><p>A <b>bold <i>and
italic</b> text</i> that overlaps, &nbsp;&copy;&#x1F600;&#99999999; entities, and <a href="javascript:x()">links</a>.
<p>Another paragraph without an end<p>and another<br><br/>with breaks<hr>""",
)
_TAGS = ("div", "p", "table", "tr", "td", "ul", "li", "a", "b", "span", "form", "svg", "math", "font", "section", "pre")
_PIECES = (b"<", b">", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&#", b"&#xD800;", b"\0", b"\xff\xfe", b'"',
    b"<script>", b"<style>", b"<plaintext>", b"<textarea>", b"<title>", b"<base href='//'>", b"\xed\xa0\x80",
    b"<?xml version='1.0' encoding='utf-16'?>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"<meta charset=utf-7>")  # fmt: skip
_CHARSETS = ("utf-8", "utf-16", "utf-16-le", "latin-1", "cp1252", "shift_jis", "gb18030", "big5", "koi8-r", "utf-7",
    "euc-kr", "iso2022_jp", "hz", "cp037", "none-such", "rot13", "zlib", "unicode_escape", "")  # fmt: skip


def mutated(rng: random.Random) -> bytes:
    """A page with random damage."""
    body = bytearray(rng.choice(SAMPLES).encode())
    for _ in range(rng.randint(1, 30)):
        at, other = sorted(rng.randrange(len(body) + 1) for _ in range(2))
        damage = rng.randrange(6)
        if damage == 0:
            body[at:at] = rng.choice(_PIECES)
        elif damage == 1 and body:
            body[at % len(body)] = rng.randrange(256)
        elif damage == 2:
            del body[at : min(other, at + 60)]
        elif damage == 3:
            body[at:at] = body[at:other] * rng.randint(1, 4)
        elif damage == 4:
            body[at:at] = f"<{rng.choice(_TAGS)} {rng.choice(('style', 'hidden', 'class', 'href'))}='".encode()
        else:
            body[at:at] = rng.randbytes(rng.randint(1, 40))
        del body[200_000:]
    return bytes(body)


def nested(rng: random.Random) -> bytes:
    tags = [rng.choice(_TAGS) for _ in range(rng.randint(1, 4))]
    return "".join(f"<{tag}>" for tag in tags).encode() * rng.choice((100, 3000, 60_000)) + b"in the middle of it"


def crowded(rng: random.Random) -> bytes:
    """Much of one thing."""
    piece = rng.choice(
        ("<span>a</span>", " a=1", "&amp;", "<p>a line of text</p>", "<table>", "<td>", "<!--x-->", "<a")
    )
    return b"<html><body><p " + piece.encode() * rng.choice((1000, 20_000, 120_000))


def misread(rng: random.Random) -> tuple[bytes, str]:
    """A page in one charset that declares another, and what its server says."""
    text = rng.choice(SAMPLES).replace('charset="utf-8"', f'charset="{rng.choice(_CHARSETS)}"')
    codec = rng.choice(("utf-8", "utf-16", "utf-16-le", "utf-32", "cp1252", "shift_jis", "gb18030", "koi8-r", "utf-7"))
    return text.encode(codec, "replace"), rng.choice(_CHARSETS)


@cache
def bomb(wrapped: bool = True) -> bytes:
    """200 MB of spaces in 200 KB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31 if wrapped else -15)
    return b"".join(packer.compress(b" " * 2**20) for _ in range(200)) + packer.flush()


Reply = tuple[bytes, Iterator[bytes]]


def _whole(body: bytes, *headers: str, status: str = "200 OK", kind: str = "text/html") -> Reply:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1"), iter((body,))


def _stream(chunk: bytes, size: int, *headers: str) -> Reply:
    """A body that ends with its connection."""
    lines = ["HTTP/1.1 200 OK", "Content-Type: text/html", *headers]
    return "\r\n".join([*lines, "", ""]).encode(), (chunk for _ in range(size // len(chunk)))


def _misread(rng: random.Random) -> Reply:
    body, charset = misread(rng)
    return _whole(body, kind=f"text/html; charset={charset}")


def _redirect(rng: random.Random) -> Reply:
    aims = ("http://169.254.169.254/latest/meta-data", "http://[::1]/", "http://127.0.0.1:1/", "//", "",
        "file:///etc/passwd", "http://2130706433/", "http://[", "gopher://a/", "http://user:word@localhost/", "\x7f",
        "/redirect/0", "/mutated/1", "http://0x7f.1/")  # fmt: skip
    return _whole(b"", f"Location: {rng.choice(aims)}", status=rng.choice(("301 M", "302 F", "307 T", "308 P")))


def _broken(rng: random.Random) -> Reply:
    """No HTTP, or half of it."""
    head = rng.choice(
        (b"", b"\0" * 4000, b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nshort",
         b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n", b"HTTP/9.9 999 ?\r\n\r\n",
         b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nno gzip")
    )  # fmt: skip
    return head, iter(())


KINDS: dict[str, Callable[[random.Random], Reply]] = {
    "mutated": lambda rng: _whole(mutated(rng)),
    "noise": lambda rng: _whole(rng.randbytes(rng.randint(0, 20_000))),
    "nested": lambda rng: _whole(nested(rng)),
    "crowded": lambda rng: _whole(crowded(rng)),
    "misread": _misread,
    "packed": lambda rng: _whole(gzip.compress(mutated(rng)), "Content-Encoding: gzip"),
    "torn": lambda rng: _whole(gzip.compress(mutated(rng))[: rng.randint(1, 200)], "Content-Encoding: gzip"),
    "bomb": lambda rng: _whole(bomb(), "Content-Encoding: gzip"),
    "raw bomb": lambda rng: _whole(bomb(False), "Content-Encoding: deflate"),
    "coded": lambda rng: _whole(bomb(), f"Content-Encoding: {rng.choice(('br', 'zstd', 'gzip, gzip', 'compress'))}"),
    "huge": lambda rng: _stream(b"<p>a line of text</p>" * 3000, HUGE),
    "declared": lambda rng: _stream(b" " * CHUNK, HUGE, f"Content-Length: {HUGE}"),
    "endless": lambda rng: _stream(b"<div>" * 10_000, ENDLESS),
    "drip": lambda rng: _stream(b"x", 10_000),
    "headers": lambda rng: _whole(b"", *(f"X-{at}: {'h' * 1000}" for at in range(rng.choice((40, 90, 2000))))),
    "status": lambda rng: _whole(b"no", status=f"{rng.choice((204, 301, 400, 401, 403, 404, 410, 418, 451))} S"),
    "typed": lambda rng: _whole(b"\x89PNG", kind=rng.choice(("image/png", "application/pdf", "text/plain", "x", ""))),
    "redirect": _redirect,
    "broken": _broken,
}


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, ValueError, IndexError, asyncio.IncompleteReadError):
        request = await reader.readuntil(b"\r\n\r\n")
        _, kind, seed = request.split()[1].decode().split("/")
        head, body = KINDS[kind.replace("%20", " ")](random.Random(f"{kind}-{seed}"))
        writer.write(head)
        for chunk in body:
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(0.05 if kind == "drip" else 0)
    writer.close()


async def _serve() -> None:
    async with await asyncio.start_server(_answer, "127.0.0.1", 0) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.read)


@contextmanager
def hostile_web() -> Iterator[int]:
    """Serve in a process of its own, which ends with this one; gives the port."""
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


if __name__ == "__main__":
    bomb(True), bomb(False)
    asyncio.run(_serve())
