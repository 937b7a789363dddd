"""A shelf for uploaded pictures, so that a reverse image search has a URL to look at.

`PUT uploads.example/<sha256>.png` stores, `GET` returns. Only so many are kept; the oldest leave first.
"""

from collections import OrderedDict

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from components.records.image_bank import sha256_hex
from components.world.web import address, host_of

HOST = "uploads.example"
DOOR = "uploads"
"""The path below which the shelf is found at the served world's own address."""
_KEPT = 512
_LARGEST = 16 * 2**20


class UploadShelf:
    """Uploaded pictures by hash."""

    def __init__(self) -> None:
        self._pictures: OrderedDict[str, bytes] = OrderedDict()

    def router(self) -> Router:
        """The routes of this host."""
        return Router(
            [
                Route("/{name}", self.put, methods=["PUT"]),
                Route("/{name}", self.get, methods=["GET"]),
            ]
        )

    def digest(self, url: str) -> str | None:
        """The hash of the picture at an upload's URL, if it is still kept."""
        folder, _, file = address(url).rpartition("/")
        name = file.partition(".")[0]
        ours = host_of(url) == HOST or folder.endswith(f"/{DOOR}")
        return name if ours and name in self._pictures else None

    def read(self, digest: str) -> bytes | None:
        """An uploaded picture's bytes."""
        return self._pictures.get(digest)

    async def put(self, request: Request) -> Response:
        """Store a picture under its own hash."""
        name = str(request.path_params["name"]).partition(".")[0]
        data = await request.body()
        if len(data) > _LARGEST:
            return PlainTextResponse("too large", status_code=413)
        if sha256_hex(data) != name:
            return PlainTextResponse("the name is not the SHA-256 of the content", status_code=400)
        self._pictures[name] = data
        self._pictures.move_to_end(name)
        while len(self._pictures) > _KEPT:
            self._pictures.popitem(last=False)
        return Response(status_code=201)

    async def get(self, request: Request) -> Response:
        """Return a stored picture."""
        data = self._pictures.get(str(request.path_params["name"]).partition(".")[0])
        return Response(data, media_type="image/png") if data else PlainTextResponse("not found", status_code=404)
