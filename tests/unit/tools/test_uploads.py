"""Pictures in a real S3 server: an address for a while, and nothing left."""

import asyncio
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any

import psutil
import pytest
from object_server import ACCESS_KEY, SECRET_KEY, ObjectServer
from pydantic import SecretStr
from vendor_doubles import serving

from components.config.schema import ToolParams
from components.config.settings import ServiceSettings
from components.records.case import Case
from components.records.episode import ToolCall
from components.records.image_bank import ImageBank, sha256_hex
from components.tools.clients.errors import NotUploaded, ServiceError
from components.tools.clients.http import Requester
from components.tools.clients.upload import S3UploadClient
from components.tools.services import Services
from components.tools.source_policy import SourcePolicy
from components.tools.toolbox import Accepted, Toolbox

BUCKET = "uploads"


@pytest.fixture(scope="module")
def bucket(object_server: ObjectServer) -> ObjectServer:
    object_server.client().create_bucket(Bucket=BUCKET)
    return object_server


def settings(endpoint: str, secret: str = SECRET_KEY, **more: Any) -> ServiceSettings:
    return ServiceSettings.model_construct(
        upload_bucket=BUCKET,
        upload_key=SecretStr(ACCESS_KEY),
        upload_secret=SecretStr(secret),
        upload_endpoint=endpoint,
        upload_region="us-east-1",
        **more,
    )


def run(server: ObjectServer, use: Callable[[S3UploadClient], Awaitable[Any]], expires_s: int = 60, **more: Any) -> Any:
    async def go() -> Any:
        async with Requester(None, 10) as requester:
            return await use(S3UploadClient(requester, settings(server.endpoint, **more), expires_s))

    return asyncio.run(go())


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url) as response:
        assert response.headers["Content-Type"] == "image/png"
        return bytes(response.read())


def left(server: ObjectServer) -> list[str]:
    return [item["Key"] for item in server.client().list_objects_v2(Bucket=BUCKET).get("Contents", [])]


def test_a_picture_has_an_address_without_our_keys_and_is_deleted(bucket: ObjectServer, picture: bytes) -> None:
    async def use(client: S3UploadClient) -> str:
        async with client.shared(picture) as url:
            assert f"/{sha256_hex(picture)}.png?" in url
            assert SECRET_KEY not in url
            assert await asyncio.to_thread(fetch, url) == picture
        return url

    url = run(bucket, use)
    with pytest.raises(urllib.error.HTTPError):
        fetch(url)
    assert left(bucket) == []


def test_the_address_expires(bucket: ObjectServer, picture: bytes) -> None:
    async def use(client: S3UploadClient) -> int:
        async with client.shared(picture) as url:
            await asyncio.sleep(2.5)
            with pytest.raises(urllib.error.HTTPError) as caught:
                await asyncio.to_thread(fetch, url)
            return caught.value.code

    assert run(bucket, use, expires_s=1) == 403


def test_two_who_look_at_one_picture_share_it_until_both_are_done(bucket: ObjectServer, picture: bytes) -> None:
    async def use(client: S3UploadClient) -> None:
        async with client.shared(picture):
            async with client.shared(picture):
                assert len(left(bucket)) == 1
            assert len(left(bucket)) == 1, "the first one still looks"

    run(bucket, use)
    assert left(bucket) == []


def test_a_search_that_fails_leaves_nothing_either(bucket: ObjectServer, picture: bytes) -> None:
    async def use(client: S3UploadClient) -> None:
        async with client.shared(picture):
            raise ServiceError("reverse image search", "status 503")

    with pytest.raises(ServiceError, match="503"):
        run(bucket, use)
    assert left(bucket) == []


@pytest.mark.parametrize("secret", ["wrong-secret"])
def test_a_bucket_that_refuses_is_no_upload(bucket: ObjectServer, picture: bytes, secret: str) -> None:
    async def use(client: S3UploadClient) -> None:
        async with client.shared(picture):
            pass

    with pytest.raises(NotUploaded, match="status 403") as caught:
        run(bucket, use, secret=secret)
    assert secret not in str(caught.value)


@pytest.mark.incident("CO-3")
def test_no_connection_is_left_after_many_uploads(bucket: ObjectServer, picture: bytes) -> None:
    async def use(client: S3UploadClient) -> None:
        async with client.shared(picture):
            pass

    run(bucket, use)
    before = len(psutil.Process().net_connections())
    for _ in range(4):
        run(bucket, use)
    assert len(psutil.Process().net_connections()) <= before


def reverse_search(endpoint: str, picture: bytes, bank: ImageBank, calls: int) -> tuple[Toolbox, list[str]]:
    """Search by picture so many times, one after another."""
    with serving() as vendors:
        held = settings(endpoint, serper_url=vendors.url, serper_key=SecretStr("key"))

        async def go() -> tuple[Toolbox, list[str]]:
            async with Requester(None, 5) as requester:
                services = Services(requester, ToolParams(), bank, SourcePolicy(), held)
                case = Case(case_id="c1", image_path="x.png", image_sha256=sha256_hex(picture))
                toolbox = services.toolbox(case, picture)
                texts = []
                for number in range(calls):
                    call = ToolCall(name="reverse_image_search", arguments_json="{}")
                    checked = toolbox.check(call, 24)
                    assert isinstance(checked, Accepted), checked
                    texts.append((await toolbox.execute(checked, f"o{number}")).text)
                return toolbox, texts

        return asyncio.run(go())


def test_lens_is_asked_with_the_address_and_finds(bucket: ObjectServer, picture: bytes, bank: ImageBank) -> None:
    toolbox, texts = reverse_search(bucket.endpoint, picture, bank, 1)
    assert texts == ["Gala\nhttps://a.example/1"]
    assert toolbox.state.used["reverse_image_search"] == 1
    assert left(bucket) == []


def test_an_upload_that_fails_costs_the_tool_nothing(picture: bytes, bank: ImageBank) -> None:
    started = time.monotonic()
    toolbox, texts = reverse_search("http://127.0.0.1:9", picture, bank, 3)
    assert texts == ["picture upload is out of service"] * 3, "the limit of two is not used up"
    assert toolbox.state.used["reverse_image_search"] == 0
    assert time.monotonic() - started < 60
