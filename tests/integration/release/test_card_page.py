"""The data card as people see it: a real Chromium, narrow and wide, light and dark."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import chromium
from playwright.sync_api import Browser, Page
from release_samples import SCRIPTED, draw_candidates, golds_of

from components.config.paths import Paths
from components.release.stage import release_candidates

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
WIDTHS, SCHEMES = (360, 1360), ("light", "dark")


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    """A released checkout whose card `eviflow data card` has written."""
    paths = draw_candidates(tmp_path_factory.mktemp("checkout"))
    paths.params.touch()
    release_candidates(SCRIPTED, paths)
    argv = [sys.executable, "-m", "components.cli", "--root", str(paths.root), "data", "card"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    assert f"written to {paths.data_card}" in done.stdout
    assert "reviewed by programs, standing in for people" in done.stdout
    [released] = [line.split() for line in done.stdout.splitlines() if line.startswith("released")]
    assert released[-1] == str(len(golds_of(paths)))
    return paths


@pytest.fixture(scope="module")
def browser(paths: Paths) -> Iterator[Browser]:
    """Started after `paths`, which runs an event loop of its own."""
    with chromium() as browser:
        yield browser


@pytest.fixture(params=[(width, scheme) for width in WIDTHS for scheme in SCHEMES], ids=str)
def page(request: pytest.FixtureRequest, paths: Paths, browser: Browser) -> Iterator[Page]:
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda asked: problems.extend([] if asked.url.startswith(("file:", "data:")) else [asked.url]))
    page.goto(paths.data_card.as_uri())
    yield page
    assert problems == []
    context.close()


def test_nothing_sticks_out_and_every_picture_is_there(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    hidden = "[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth + 1).length"
    assert page.evaluate(hidden) == 0, "no table has to be moved aside to be read"
    pictures = page.evaluate("[...document.images].map(image => image.naturalWidth)")
    assert len(pictures) == page.locator("article").count() > 1
    assert min(pictures) > 200


def test_text_stands_out_from_its_ground_in_both_schemes(page: Page) -> None:
    contrast = """() => {
      const shade = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number).map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
      const ground = node => { for (; node; node = node.parentElement) {
        const colour = getComputedStyle(node).backgroundColor;
        if (!colour.endsWith(", 0)")) return colour; } };
      return [...document.querySelectorAll("p, td, th, h1, h2, li, .badge, .tile b, .tile span")].map(node => {
        const pair = [shade(getComputedStyle(node).color), shade(ground(node))].sort((a, b) => b - a);
        return (pair[0] + 0.05) / (pair[1] + 0.05); }); }"""
    found = page.evaluate(contrast)
    assert len(found) > 100
    assert min(found) >= 4.5
