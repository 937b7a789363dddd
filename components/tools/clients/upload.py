"""Uploading a picture, so that a search by picture has a URL to look at."""

from components.records.image_bank import sha256_hex
from components.tools.clients.errors import ServiceError
from components.tools.clients.http import Requester

BASE = "https://uploads.example"
SERVICE = "picture upload"


class UploadClient:
    """Puts pictures under their hash."""

    def __init__(self, requester: Requester, base: str = BASE) -> None:
        self._requester = requester
        self._base = base

    async def put(self, picture: bytes) -> str:
        """Upload an encoded picture and return its URL. Raises ServiceError."""
        url = f"{self._base}/{sha256_hex(picture)}.png"
        headers = {"Content-Type": "image/png"}
        response = await self._requester.send(SERVICE, "PUT", url, headers=headers, content=picture)
        if response.status not in (200, 201, 204):
            raise ServiceError(SERVICE, f"status {response.status}")
        return url
