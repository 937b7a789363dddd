from pathlib import Path

import pytest

from components.errors import EviflowError
from components.records.web import Page, SiteKind, WebPicture
from components.world.store import read_pages, read_pictures, write_pages, write_pictures


def page(url: str) -> Page:
    return Page(url=url, title="T", kind=SiteKind.NEWS, published="2031-01-01", html="<p>a</p>", markdown="a\u2028b")


def picture(url: str) -> WebPicture:
    return WebPicture(image_url=url, page_url="https://a.example", title="T", sha256="0" * 64, width=320, height=240)


def test_records_come_back_in_order_of_url_and_bytes_do_not_depend_on_order(tmp_path: Path) -> None:
    pages, pictures = [page("https://b.example"), page("https://a.example")], [picture("u2"), picture("u1")]
    first = [write_pages(tmp_path / "1", pages), write_pictures(tmp_path / "1", pictures)]
    second = [write_pages(tmp_path / "2", pages[::-1]), write_pictures(tmp_path / "2", pictures[::-1])]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert read_pages(tmp_path / "1") == pages[::-1]
    assert read_pictures(tmp_path / "1") == pictures[::-1]


def test_a_world_that_is_not_built_is_named(tmp_path: Path) -> None:
    with pytest.raises(EviflowError, match=r"pages\.parquet is missing.*stage world"):
        read_pages(tmp_path)
