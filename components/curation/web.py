"""Writing the public side of the world: pages, official photographs, official portraits, pictures that circulate."""

import random
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from components.config.schema import WorldParams
from components.progress import track
from components.records.image_writer import ImageWriter, new_shards
from components.records.web import WebPicture
from components.world.circulation import circulating_picture
from components.world.draw import Scene, draw_portrait, draw_scene, encode_png
from components.world.entities import Event, Facts, Person
from components.world.pages import build_pages, page_count
from components.world.scenes import documented, photographed_scene
from components.world.store import write_pages, write_pictures
from components.world.styles import STYLES_BY_SPLIT

_PORTRAIT_SIDE = 160


def write_web(facts: Facts, params: WorldParams, folder: Path) -> tuple[int, int]:
    """Write every page and picture of the world into `folder`; returns how many of each."""
    pages = list(track(build_pages(facts), "writing", page_count(facts), "pages"))
    total = len(facts.people) + len(facts.photographed) + len(facts.circulating)
    with new_shards(folder) as bank:
        pictures = list(track(_pictures(facts, params, bank), "drawing", total, "pictures"))
    write_pages(folder, pages)
    write_pictures(folder, pictures)
    return len(pages), len(pictures)


def official_scene(event: Event, facts: Facts, params: WorldParams) -> Scene:
    """What the official photograph of an event shows: everything as documented, and nothing printed."""
    return photographed_scene(
        documented(event, facts),
        style=event.style,
        seed=event.composition ^ facts.seed,
        size=(params.picture_width, params.picture_height),
    )


def _pictures(facts: Facts, params: WorldParams, bank: ImageWriter) -> Iterator[WebPicture]:
    for person in facts.people:
        yield _portrait(person, facts.seed, bank)
    for event in facts.photographed:
        assert event.photo_url is not None
        title = f"{event.title} {event.year}, official photograph"
        scene = official_scene(event, facts, params)
        yield _shown(event.photo_url, event.official_url, title, draw_scene(scene), bank)
    for post in facts.circulating:
        title = f"Picture of {facts.event[post.event_id].title}"
        _, scene = circulating_picture(post, facts, params)
        yield _shown(post.image_url, post.post_url, title, draw_scene(scene), bank)


def _portrait(person: Person, seed: int, bank: ImageWriter) -> WebPicture:
    rng = random.Random(f"portrait-{seed}-{person.person_id}")
    style = rng.choice(STYLES_BY_SPLIT[person.split])
    image = draw_portrait(person.face, style, rng.randrange(2**31), _PORTRAIT_SIDE)
    return _shown(person.portrait_url, person.profile_url, f"{person.name}, official portrait", image, bank)


def _shown(image_url: str, page_url: str, title: str, image: Image.Image, bank: ImageWriter) -> WebPicture:
    """A picture on a page."""
    return WebPicture(
        image_url=image_url,
        page_url=page_url,
        title=title,
        sha256=bank.put(encode_png(image)),
        width=image.width,
        height=image.height,
    )
