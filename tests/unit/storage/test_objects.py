"""Which objects a version needs and which a place has, on folders made by hand."""

import json
from collections.abc import Collection
from pathlib import Path

import pytest

from components.errors import UsageError
from components.storage.depots import Depot, FolderDepot, Found, bytes_md5
from components.storage.dvc import Out
from components.storage.objects import Needed, differing, fault_of, needed_objects, survey, wrong_totals
from components.storage.remote import open_places

PAGE, PICTURE = b"page", b"picture"
LISTING = json.dumps(
    [{"md5": bytes_md5(PAGE), "relpath": "page"}, {"md5": bytes_md5(PICTURE), "relpath": "sub/picture"}]
).encode()
WEB = Out("data/web", f"{bytes_md5(LISTING)}.dir", 11, 2)


def put(place: FolderDepot, digest: str, content: bytes) -> None:
    path = place.path(digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


@pytest.fixture
def full(tmp_path: Path) -> FolderDepot:
    place = FolderDepot(tmp_path / "full", "here")
    for content in (PAGE, PICTURE):
        put(place, bytes_md5(content), content)
    put(place, WEB.digest, LISTING)
    return place


def test_a_folder_is_opened(full: FolderDepot) -> None:
    needed = needed_objects([WEB, Out("page", bytes_md5(PAGE), 4, 1)], [full])
    assert [item.path for item in needed] == ["data/web", "data/web/page", "data/web/sub/picture", "page"]
    found = survey(needed, full)
    assert found.faults == []
    assert found.whole == {WEB.digest: len(LISTING), bytes_md5(PAGE): 4, bytes_md5(PICTURE): 7}


def test_a_damaged_list_is_passed_over_for_a_whole_one(full: FolderDepot, tmp_path: Path) -> None:
    other = FolderDepot(tmp_path / "other", "in remote `storage`")
    put(other, WEB.digest, LISTING[:-1])
    assert len(needed_objects([WEB], [other, full])) == 3
    assert [item.path for item in needed_objects([WEB], [other])] == ["data/web"]


def test_missing_and_damaged_are_told_apart_and_said_once(full: FolderDepot) -> None:
    full.path(bytes_md5(PAGE)).write_bytes(b"pagf")
    full.path(bytes_md5(PICTURE)).unlink()
    needed = needed_objects([WEB, Out("again", bytes_md5(PAGE), 4, 1)], [full])
    assert [str(fault) for fault in survey(needed, full).faults] == [
        f"damaged here: data/web/page ({bytes_md5(PAGE)})",
        f"missing here: data/web/sub/picture ({bytes_md5(PICTURE)})",
    ]


class Silent(FolderDepot):
    """A place that tells sizes only, as S3 does of an upload in parts."""

    def find(self, digests: Collection[str]) -> dict[str, Found]:
        return {digest: Found(item.size, None) for digest, item in super().find(digests).items()}


def test_where_no_md5_is_told_the_size_counts(full: FolderDepot) -> None:
    place: Depot = Silent(full.folder, "there")
    needed = needed_objects([WEB, Out("page", bytes_md5(PAGE), 5, 1)], [full])
    assert survey(needed[:1], place, {WEB.digest: len(LISTING) + 1}).faults[0].what == "damaged"
    assert survey(needed[:1], place).faults == []
    assert [fault.needed.path for fault in survey(needed[3:], place).faults] == ["page"]


def test_a_folder_whose_files_make_up_other_bytes_is_damaged(full: FolderDepot) -> None:
    place = Silent(full.folder, "there")
    needed = needed_objects([WEB], [full])
    assert wrong_totals([WEB], needed, place, survey(needed, place).whole) == []
    place.path(bytes_md5(PAGE)).write_bytes(b"pages")
    found = survey(needed, place)
    assert found.faults == []
    [fault] = wrong_totals([WEB], needed, place, found.whole)
    assert str(fault) == f"damaged there: data/web ({WEB.digest})"


def test_a_digest_of_a_folder_is_compared_without_its_suffix() -> None:
    assert fault_of("abc.dir", Found(3, "abc")) is None
    assert fault_of("abc.dir", Found(3, "abd")) == "damaged"
    assert fault_of("abc", None) == "missing"


def test_an_object_is_taken_whole_or_not_at_all(full: FolderDepot, tmp_path: Path) -> None:
    cache = FolderDepot(tmp_path / "cache", "here")
    assert cache.take(bytes_md5(PAGE), full)
    assert cache.path(bytes_md5(PAGE)).read_bytes() == PAGE
    full.path(bytes_md5(PICTURE)).write_bytes(b"other")
    assert not cache.take(bytes_md5(PICTURE), full)
    assert [path.name for path in cache.folder.rglob("*") if path.is_file()] == [bytes_md5(PAGE)[2:]]


def test_a_taken_object_replaces_a_damaged_one(full: FolderDepot, tmp_path: Path) -> None:
    cache = FolderDepot(tmp_path / "cache", "here")
    put(cache, bytes_md5(PAGE), b"damaged")
    cache.path(bytes_md5(PAGE)).chmod(0o444)
    assert cache.take(bytes_md5(PAGE), full)
    assert survey([Needed(bytes_md5(PAGE), "page")], cache).faults == []


def test_files_of_the_checkout_are_compared_by_content(tmp_path: Path) -> None:
    (tmp_path / "page").write_bytes(PAGE)
    needed = [Needed(WEB.digest, "web"), Needed(bytes_md5(PAGE), "page"), Needed(bytes_md5(PICTURE), "picture")]
    assert [item.path for item in differing(needed, tmp_path)] == ["picture"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("url = gs://bucket", "cannot be looked into; use s3://... or a folder"),
        ("url = s3://bucket\n    version_aware = true", "leaves versions to the cloud"),
    ],
)
def test_a_remote_that_cannot_be_looked_into_is_refused(tmp_path: Path, config: str, said: str) -> None:
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text(f"[core]\n    remote = storage\n['remote \"storage\"']\n    {config}\n")
    with pytest.raises(UsageError, match=said):
        open_places(tmp_path)


def test_a_remote_folder_is_found_from_where_the_configuration_lies(tmp_path: Path) -> None:
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text(
        "[core]\n    remote = storage\n['remote \"storage\"']\n    url = ../objects\n[cache]\n    dir = ../big\n"
    )
    places = open_places(tmp_path)
    assert isinstance(places.remote, FolderDepot)
    assert (places.remote.folder, places.cache.folder) == (tmp_path / "objects", tmp_path / "big")
