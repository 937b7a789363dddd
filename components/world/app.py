"""The closed world as one ASGI application: it answers for every host of the public web and of the vendors.

Which service answers is decided by the Host header, so that the same clients reach the vendors, the application in
their own process, or the application on a port. Whoever can set a base address but no Host header finds the same
services below paths: `/serper`, `/jina`, `/baidu`, `/uploads`, and pages and pictures below `/web/` and their address.
"""

from functools import lru_cache
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from components.records.image_bank import ImageBank
from components.world.vendors import baidu, clock, jina, serper, uploads
from components.world.vendors.doors import Doors
from components.world.vendors.sites import Sites
from components.world.web import Web


class WorldApp:
    """Dispatches on the Host header.

    Args:
        web: what there is to find.
        read: the OCR engine.
        pages_per_minute: pages that the page reader reads in a minute; None for no limit.

    """

    def __init__(self, web: Web, read: baidu.Read, pages_per_minute: int | None = None) -> None:
        shelf = uploads.UploadShelf()
        self._hosts: dict[str, ASGIApp] = {
            serper.HOST: serper.Serper(web, shelf).router(),
            jina.HOST: jina.JinaReader(web, pages_per_minute),
            baidu.HOST: baidu.BaiduOcr(read).router(),
            uploads.HOST: shelf.router(),
            clock.HOST: clock.Clock(web).router(),
        }
        self._web = web
        self._sites = Sites(web)
        self._doors = Doors(self._hosts, self._sites)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; there is nothing to start or stop."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        assert scope["type"] == "http", scope["type"]
        host = (
            next((value for key, value in scope["headers"] if key == b"host"), b"").decode().partition(":")[0].lower()
        )
        known = self._sites if self._web.knows_host(host) else self._doors
        await self._hosts.get(host, known)(scope, receive, send)


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def load_web(root: Path, cache: Path) -> Web:
    """The web that stage `world` wrote, with its indexes; built once per process and version of the files."""
    files = [root / name for name in ("pages.parquet", "pictures.parquet")]
    stamps = tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)
    return _load_web(root.resolve(), cache, stamps)


@lru_cache(maxsize=4)
def _load_web(root: Path, cache: Path, stamps: tuple[int, ...]) -> Web:
    from components.world.store import read_pages, read_pictures

    return Web(read_pages(root), read_pictures(root), ImageBank(root).read, cache / "lens").build()
