"""What `dvc.lock`, `dvc.yaml` and `*.dvc` files say about the data."""

import pytest

from components.errors import UsageError
from components.storage.dvc import Out
from components.storage.versions import git_outs, pipeline_outs, recorded_outs

LOCK = b"""\
schema: '2.0'
stages:
  world:
    cmd: python make.py
    outs:
    - {path: data/web, hash: md5, md5: 8195e549457a5547c51dfc6f57f9af92.dir, size: 40, nfiles: 3}
    - {path: reports/world.json, hash: md5, md5: 2b6aa8903267fd29468f0b373b8100a3, size: 11}
  check:
    cmd: python check.py
"""
PIPELINE = b"""\
stages:
  world:
    outs: [data/web]
    metrics:
      - reports/world.json: {cache: false}
"""
POINTER = b"outs:\n- {md5: 0fb0285b3fe8f8ff5487e324acf462c7, size: 7, hash: md5, path: notes.txt}\n"
WEB = Out("data/web", "8195e549457a5547c51dfc6f57f9af92.dir", 40, 3)


def test_what_git_keeps_is_no_object_of_the_cache() -> None:
    files = {"dvc.lock": LOCK, "dvc.yaml": PIPELINE}
    assert git_outs(files) == {"reports/world.json"}
    assert recorded_outs(files, "here") == [WEB]


def test_an_added_file_lies_beside_the_file_that_points_to_it() -> None:
    files = {"dvc.lock": LOCK, "dvc.yaml": PIPELINE, "more/notes.txt.dvc": POINTER, "notes.txt.dvc": POINTER}
    paths = [out.path for out in recorded_outs(files, "here")]
    assert paths == ["data/web", "more/notes.txt", "notes.txt"]
    assert pipeline_outs(files, "here") == [WEB]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"<<<<<<< HEAD\nstages:\n", "dvc.lock of 1234abcd is not a file of DVC"),
        (b"- a list", "is not a file of DVC"),
        (b"stages: {old: {outs: [{path: a, md5: abc, size: 1}]}}", "records `a` without an MD5 of DVC 3"),
        (b"stages: {cloud: {outs: [{path: a, hash: etag, etag: abc, size: 1}]}}", "records `a` without an MD5"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(text: bytes, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        recorded_outs({"dvc.lock": text}, "1234abcd")


def test_a_lock_without_stages_records_nothing() -> None:
    assert recorded_outs({"dvc.lock": b"schema: '2.0'\n"}, "here") == []
