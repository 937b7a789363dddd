"""Laying a picture where a search by picture can look at it, and taking it away again."""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

from components.records.image_bank import sha256_hex
from components.records.usage import Meter
from components.tools.clients.errors import NotUploaded, ServiceError
from components.tools.clients.http import Answer, Requester
from components.tools.metering import Tariff, counted

if TYPE_CHECKING:
    from components.config.settings import ServiceSettings

BASE = "https://uploads.example"
SERVICE = "picture upload"
_TYPE = {"Content-Type": "image/png"}
_TAKEN = (200, 201, 204)
_TARIFF = Tariff(Meter.UPLOADS, 1, shared=True)
"""Investigations that look at one picture at once share its upload; which of them pays is chance."""


class Uploader(Protocol):
    """Whatever gives a picture an address for a while."""

    def shared(self, picture: bytes) -> AbstractAsyncContextManager[str]:
        """The address of an encoded picture, good inside the block; raises NotUploaded."""
        ...


class UploadClient:
    """Puts pictures under their hash, on a shelf that throws the oldest away by itself."""

    def __init__(self, requester: Requester, base: str = BASE) -> None:
        self._requester = requester
        self._base = base.rstrip("/")

    async def put(self, picture: bytes) -> str:
        """Upload an encoded picture and return its URL. Raises NotUploaded."""
        name = f"{sha256_hex(picture)}.png"
        url = f"{self._base}/{name}"
        await _put(self._requester, url, picture, f"{BASE}/{name}")
        return url

    @asynccontextmanager
    async def shared(self, picture: bytes) -> AsyncIterator[str]:
        """The address of a picture."""
        with counted(_TARIFF) as call:
            url = await self.put(picture)
            call.units = 1
        yield url


class S3UploadClient:
    """Puts pictures under their hash into a bucket, and gives out addresses that expire.

    boto3 signs the addresses, which needs no network; the requests go the way of all others, so that nothing tries
    again behind the one retry layer and no connection outlives the requester.

    Args:
        requester: sends the requests.
        settings: bucket and keys; without keys boto3 looks where it always does.
        expires_s: how long an address works, seconds.

    """

    def __init__(self, requester: Requester, settings: "ServiceSettings", expires_s: int) -> None:
        self._requester = requester
        self._bucket = settings.upload_bucket
        self._expires_s = expires_s
        self._client = _signer(settings)
        # Nobody guesses the folder, and no other process deletes in it.
        self._folder = f"eviflow/{secrets.token_hex(8)}"
        self._users: Counter[str] = Counter()
        self._guards: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def shared(self, picture: bytes) -> AsyncIterator[str]:
        """The address of a picture; it is deleted when the last of those that look at it is done."""
        name = f"{sha256_hex(picture)}.png"
        guard = self._guards.setdefault(name, asyncio.Lock())
        async with guard:
            with counted(_TARIFF) as call:
                if not self._users[name]:
                    await _put(self._requester, self._url("put_object", name), picture, f"{BASE}/{name}")
                call.units = 1
            self._users[name] += 1
        try:
            yield self._url("get_object", name)
        finally:
            async with guard:
                self._users[name] -= 1
                if not self._users[name]:
                    await self._delete(name)

    async def _delete(self, name: str) -> None:
        """What cannot be deleted is no reason to lose the search: its address expires."""
        url = self._url("delete_object", name)
        try:
            await self._requester.send(SERVICE, "DELETE", url, known_as=f"{BASE}/{name}", check=_taken)
        except ServiceError:
            return

    def _url(self, operation: str, name: str) -> str:
        params = {"Bucket": self._bucket, "Key": f"{self._folder}/{name}"}
        if operation == "put_object":
            params["ContentType"] = _TYPE["Content-Type"]
        signed: str = self._client.generate_presigned_url(operation, Params=params, ExpiresIn=self._expires_s)
        return signed


async def _put(requester: Requester, url: str, picture: bytes, known_as: str) -> None:
    try:
        await requester.send(
            SERVICE, "PUT", url, headers=_TYPE, content=picture, known_as=known_as, check=_taken, tariff=_TARIFF
        )
    except ServiceError as error:
        raise NotUploaded(error.service, error.reason) from error


def _taken(answer: Answer) -> None:
    if answer.status not in _TAKEN:
        raise ServiceError(SERVICE, f"status {answer.status}")


def _signer(settings: "ServiceSettings") -> Any:
    import boto3
    from botocore.config import Config

    key, secret = settings.upload_key, settings.upload_secret
    style = "path" if settings.upload_endpoint else "auto"
    return boto3.client(
        "s3",
        endpoint_url=settings.upload_endpoint,
        region_name=settings.upload_region,
        aws_access_key_id=key.get_secret_value() if key else None,
        aws_secret_access_key=secret.get_secret_value() if secret else None,
        config=Config(signature_version="s3v4", s3={"addressing_style": style}),
    )
