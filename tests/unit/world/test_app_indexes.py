import time
from collections.abc import Callable
from pathlib import Path

import pytest

from components.world import image_features
from components.world.image_features import features
from components.world.image_index import ImageIndex
from components.world.search_index import TextIndex, snippet, words
from components.world.web import REACH, address, host_of


def test_rare_words_weigh_more_than_common_ones() -> None:
    index = TextIndex([words("gala gala gala"), words("gala at rowan hall"), words("soup")])
    assert index.search("Gala, Rowan!", 10)[0] == 1
    assert index.search("gala", 1) == [0]


def test_an_index_without_documents_or_words_finds_nothing() -> None:
    assert TextIndex([]).search("gala", 3) == []
    assert TextIndex([[], ["gala"]]).search("gala", 3) == [1]
    assert TextIndex([["gala"]]).search("", 3) == []


def test_indexing_and_searching_are_quick() -> None:
    documents = [
        words(f"event {number} at hall {number % 50} with {number % 9} lanterns " * 8) for number in range(1500)
    ]
    started = time.perf_counter()
    index = TextIndex(documents)
    assert index.search("event 700", 3)[0] == 700
    assert time.perf_counter() - started < 2


def test_a_snippet_shows_the_words_that_were_searched() -> None:
    text = "Nothing here. " * 30 + "The gala was held at Rowan Hall. " + "And so on. " * 30
    shown = snippet(text, "rowan")
    assert "Rowan Hall" in shown
    assert shown.startswith("... ")
    assert shown.endswith(" ...")
    assert snippet("Short text.", "other") == "Short text."


def test_features_are_kept_by_hash_between_processes(tmp_path: Path, drawn: Callable[..., bytes]) -> None:
    pictures = {f"{number:064d}": drawn(number) for number in range(5)}
    first = ImageIndex.over(list(pictures), pictures.__getitem__, tmp_path)

    def unread(digest: str) -> bytes:
        raise AssertionError(f"{digest} is read again")

    again = ImageIndex.over(list(pictures), unread, tmp_path)
    query = features(drawn(2))
    assert first.search(query, 5, 1.0) == again.search(query, 5, 1.0)
    assert again.search(query, 3, REACH)[0].position == 2
    more = {**pictures, "f" * 64: drawn(9)}
    extended = ImageIndex.over(list(more), more.__getitem__, tmp_path)
    assert extended.search(features(drawn(9)), 1, REACH)[0].position == 5
    assert len(list(tmp_path.iterdir())) == 1


def test_an_equal_picture_is_at_distance_nought_and_an_empty_one_far(drawn: Callable[..., bytes]) -> None:
    index = ImageIndex([features(drawn(1))])
    assert index.search(features(drawn(1)), 1, REACH)[0].distance == pytest.approx(0, abs=1e-6)
    assert index.search(features(drawn(1, shapes=0)), 1, REACH) == []
    assert ImageIndex([]).search(features(drawn(1)), 3, REACH) == []


def test_the_version_of_the_features_names_their_file() -> None:
    assert image_features.VERSION in image_features.cache_file(Path("x")).name


def test_spellings_of_one_address_are_one() -> None:
    spellings = ("https://A.example/x/", "http://a.example/x", "a.example/x#top", "https://a.example:443/x")
    assert len({address(url) for url in spellings}) == 1
    assert address("https://a.example/x?y=1") != address("https://a.example/x")
    assert host_of("https://user@B.example.:8080/x") == "b.example"
