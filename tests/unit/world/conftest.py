import asyncio
import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from PIL import Image, ImageDraw

from components.records.image_bank import ImageBank
from components.records.web import Page, SiteKind, WebPicture
from components.world.app import WorldApp
from components.world.web import Web


def draw(seed: int, ground: tuple[int, int, int] = (230, 225, 215), *, shapes: int = 6, shift: int = 0) -> bytes:
    """Coloured shapes in places that follow from `seed`, on a ground of its own."""
    image = Image.new("RGB", (160, 120), ground)
    pen = ImageDraw.Draw(image)
    for number in range(shapes):
        x = (seed * 37 + number * 53) % 130 + shift
        y = (seed * 61 + number * 29) % 90 + shift
        colour = [(200, 40, 40), (40, 60, 200), (30, 150, 60)][(seed + number) % 3]
        pen.ellipse((x, y, x + 22, y + 22), fill=colour)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


def page(url: str, title: str, text: str, kind: SiteKind = SiteKind.NEWS) -> Page:
    html = f"<html><title>{title}</title><p>{text}</p></html>"
    return Page(url=url, title=title, kind=kind, published="2031-03-12", html=html, markdown=f"# {title}\n\n{text}")


PAGES = [
    page("https://harvest-gala.example/2031", "Harvest Gala 2031", "Harvest Gala took place at Rowan Hall."),
    page("https://harvest-gala.example/2030", "Harvest Gala 2030", "Harvest Gala took place at Birch Court."),
    page("https://people.example/mara-venn", "Mara Venn", "Mara Venn hosted the gala. Ask her about lanterns."),
    page("https://soup.example/1?part=2", "Autumn soup", "Peel the pumpkin."),
]


@pytest.fixture
def drawn() -> Callable[..., bytes]:
    return draw


@pytest.fixture(scope="session")
def web(tmp_path_factory: pytest.TempPathFactory) -> Web:
    root = tmp_path_factory.mktemp("web")
    bank = ImageBank(root)
    pictures = [
        WebPicture(
            image_url=f"https://harvest-gala.example/{number}.png",
            page_url=PAGES[number % 2].url,
            title=f"Harvest Gala picture {number}",
            sha256=bank.put(draw(number)),
            width=160,
            height=120,
        )
        for number in range(14)
    ]
    return Web(PAGES, pictures, bank.read, root / "cache").build()


def read(data: bytes) -> list[SimpleNamespace]:
    """An OCR engine that reads the size of a picture."""
    image = Image.open(io.BytesIO(data))
    return [SimpleNamespace(text=f"{image.width} x {image.height}", box=(5, 6, 45, 26), confidence=0.97)]


@pytest.fixture
def app(web: Web) -> WorldApp:
    return WorldApp(web, read)


@pytest.fixture
def ask(app: WorldApp) -> Callable[..., httpx.Response]:
    """Send one request to the world, as its clients do."""

    def send(method: str, url: str, **options: Any) -> httpx.Response:
        async def exchange() -> httpx.Response:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app)) as client:
                return await client.request(method, url, **options)

        return asyncio.run(exchange())

    return send
