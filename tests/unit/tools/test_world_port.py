"""The closed world on a port, reached by each client through nothing but a base address."""

import asyncio
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from app_server import on_a_port
from object_server import free_ports
from PIL import Image

from components.config.paths import Paths
from components.records.image_bank import ImageBank, sha256_hex
from components.tools.clients.baidu_ocr import BaiduOcrClient
from components.tools.clients.errors import NotThere, Rejected
from components.tools.clients.http import Requester
from components.tools.clients.jina import JinaClient
from components.tools.clients.pictures import PictureClient
from components.tools.clients.serper import SerperClient
from components.tools.clients.upload import UploadClient
from components.world.app import WorldApp
from components.world.store import write_pages, write_pictures
from components.world.web import Web

GALA = "https://harvest-gala.example/2031"


@pytest.fixture
def address(web: Web) -> Iterator[str]:
    line = SimpleNamespace(text="Rowan Hall", box=(20, 205, 110, 217), confidence=0.9)
    with on_a_port(WorldApp(web, lambda _: [line])) as address:
        yield address


def test_the_root_says_where_everything_is(address: str) -> None:
    told = httpx.get(address).json()
    assert told["serper"] == f"{address}/serper"
    assert sorted(told) == ["baidu", "jina", "serper", "uploads", "web"]
    assert httpx.get(f"{address}/nothing").status_code == 404


def test_every_client_finds_its_vendor_below_a_base_address(address: str, picture: bytes) -> None:
    async def go() -> None:
        async with Requester(None, 20) as requester:
            serper = SerperClient(requester, "any", f"{address}/serper")
            assert GALA in [row.link for row in await serper.search("Harvest Gala 2031")]
            (photo, *_) = await serper.images("Harvest Gala official photograph")
            assert photo.imageUrl == f"{GALA}/photo.png"
            url = await UploadClient(requester, f"{address}/uploads").put(picture)
            assert url == f"{address}/uploads/{sha256_hex(picture)}.png"
            assert GALA in [row.link for row in await serper.lens(url)]
            assert (await PictureClient(requester).download(url)).png == picture
            reader = JinaClient(requester, "any", f"{address}/jina")
            page = await reader.read(GALA)
            assert (page.title, page.url, page.pictures) == ("Harvest Gala 2031", GALA, (f"{GALA}/photo.png",))
            with pytest.raises(NotThere):
                await reader.read("https://nowhere.example/")
            for model in ("general", "accurate"):
                ocr = BaiduOcrClient(requester, "any", "any", f"{address}/baidu", model)
                assert [line.text for line in await ocr.read(picture)] == ["Rowan Hall"]
            shown = await PictureClient(requester).download(f"{address}/web/{GALA}/photo.png")
            assert Image.open(io.BytesIO(shown.png)).size == (320, 240)
            with pytest.raises(Rejected):
                await SerperClient(requester, "", f"{address}/serper").search("x")

    asyncio.run(go())


def test_hosts_of_the_web_keep_their_own_roots(address: str) -> None:
    for host in ("harvest-gala.example", "nowhere.example"):
        assert httpx.get(address, headers={"Host": host}).status_code == 404


@pytest.mark.slow
def test_the_command_serves_a_checkout_and_the_doctor_finds_it_well(tmp_path: Path, web: Web) -> None:
    paths = Paths(tmp_path)
    pictures = [picture for picture in web.pictures if "soup" not in picture.image_url]
    bank = ImageBank(paths.web)
    for picture in pictures:
        bank.put(web.read(picture.sha256))
    write_pages(paths.web, web.pages)
    write_pictures(paths.web, pictures)
    paths.params.write_text("{}")
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "components.cli", "--root", str(tmp_path)]
    held = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3]), "EVIFLOW_WORLD_URL": f"http://127.0.0.1:{port}"}
    with (tmp_path / "log").open("wb") as log:
        argv = [*command, "world", "serve", "--port", str(port)]
        server = subprocess.Popen(argv, cwd=tmp_path, env=held, stdout=log, stderr=log)
    try:
        wait_until_it_answers(held["EVIFLOW_WORLD_URL"], tmp_path / "log")
        done = subprocess.run([*command, "doctor", "--json"], cwd=tmp_path, env=held, capture_output=True, check=False)
    finally:
        server.kill()
        server.wait()
    assert done.returncode == 0, done
    assert {probe["state"] for probe in json.loads(done.stdout)["probes"]} == {"works"}
    assert f"serper   http://127.0.0.1:{port}/serper" in (tmp_path / "log").read_text()


def wait_until_it_answers(address: str, log: Path) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            httpx.get(address)
            return
        except httpx.TransportError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
