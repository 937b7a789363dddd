"""The services below paths of the served world's own address, for agents that can set a base address and no more."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from components.world.vendors import baidu, jina, serper, uploads

PATHS = {"serper": serper.HOST, "jina": jina.HOST, "baidu": baidu.HOST, uploads.DOOR: uploads.HOST}
"""The host that answers below each path."""
WEB = "web"


class Doors:
    """Dispatches on the first part of the path; an ASGI application.

    Args:
        hosts: the services by host.
        sites: pages and pictures.

    """

    def __init__(self, hosts: Mapping[str, ASGIApp], sites: ASGIApp) -> None:
        self._hosts = hosts
        self._sites = sites

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope)
        raw = scope.get("raw_path", scope["path"].encode()).partition(b"?")[0]
        name, _, rest = raw[1:].decode("ascii", "replace").partition("/")
        if name in PATHS:
            await self._hosts[PATHS[name]](_moved(scope, PATHS[name], f"/{rest}"), receive, send)
        elif name == WEB and rest.startswith(("http://", "https://")):
            parts = urlsplit(rest)
            await self._sites(_moved(scope, parts.netloc, parts.path or "/"), receive, send)
        elif not name and _is_own(request.url.hostname or ""):
            await JSONResponse(addresses(str(request.base_url)))(scope, receive, send)
        else:
            await self._sites(scope, receive, send)


def addresses(base: str) -> dict[str, str]:
    """The base address of each service of a world that is served at `base`."""
    return {name: f"{base.rstrip('/')}/{name}" for name in (*PATHS, WEB)}


def _is_own(host: str) -> bool:
    """Whether a host is this machine's rather than one of the web's: a bare name or a number."""
    return "." not in host or host.replace(".", "").isdigit()


def _moved(scope: Scope, host: str, path: str) -> Scope:
    """The same request at another host and path."""
    headers = [(key, value) for key, value in scope["headers"] if key != b"host"]
    return {
        **scope,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "headers": [*headers, (b"host", host.encode())],
    }
