from pathlib import Path

import pytest

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.build import WorldSummary, build_world
from components.records.image_bank import ImageBank
from components.records.web import SiteKind
from components.world.entities import Facts
from components.world.store import read_pages, read_pictures


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_pages_pictures_and_facts_are_written(small_world: tuple[Paths, WorldSummary]) -> None:
    paths, summary = small_world
    facts = Facts.model_validate_json(paths.facts.read_text("utf-8"))
    assert (summary.events, summary.near_misses, summary.people) == (12, 12, len(facts.people))
    assert summary.pages == len(read_pages(paths.web))
    shown = len(facts.people) + len(facts.photographed) + len(facts.circulating)
    assert summary.pictures == len(read_pictures(paths.web)) == shown


def test_everybody_has_a_portrait_and_most_editions_a_photograph(small_world: tuple[Paths, WorldSummary]) -> None:
    paths, _ = small_world
    facts = Facts.model_validate_json(paths.facts.read_text("utf-8"))
    pictures = {picture.image_url: picture for picture in read_pictures(paths.web)}
    pages = {page.url: page for page in read_pages(paths.web)}
    bank = ImageBank(paths.web)
    for person in facts.people:
        portrait = pictures[person.portrait_url]
        assert person.name in portrait.title
        assert pages[portrait.page_url].kind is SiteKind.PROFILE
        assert bank.open(portrait.sha256).size == (portrait.width, portrait.height)
    assert 0 < len(facts.photographed) < len(facts.events)
    for event in facts.photographed:
        assert event.photo_url is not None
        photo = pictures[event.photo_url]
        assert photo.page_url == event.official_url
        assert photo.image_url in pages[event.official_url].html
        assert bank.open(photo.sha256).size == (320, 240)


def test_equal_parameters_give_equal_bytes(
    small_params: Params, small_world: tuple[Paths, WorldSummary], tmp_path: Path
) -> None:
    paths, _ = small_world
    build_world(small_params, Paths(tmp_path))
    assert files(Paths(tmp_path).web) == files(paths.web)
    assert Paths(tmp_path).facts.read_bytes() == paths.facts.read_bytes()


def test_a_build_that_fails_leaves_the_old_world(small_params: Params, tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    build_world(small_params, paths)
    before = files(paths.web)
    paths.facts.unlink()
    paths.facts.mkdir()
    with pytest.raises(OSError, match=r"facts\.json"):
        build_world(Params(world=small_params.world.model_copy(update={"seed": 99})), paths)
    assert files(paths.web) == before
    assert [path.name for path in paths.web.parent.iterdir() if path.name.startswith(".web")] == []
