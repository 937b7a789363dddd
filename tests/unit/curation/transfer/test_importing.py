import io
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from transfer_samples import (
    bomb_picture,
    cases,
    chunk,
    golds,
    picture,
    raw_folder,
    refusals,
    refused_lines,
    take_in,
    tree,
    user_folder,
)

from components.config.paths import Paths
from components.curation.transfer.importing import ImportRequest, try_import
from components.curation.transfer.refusals import SHOWN
from components.errors import UsageError
from components.evaluation.gold import load_gold
from components.records.case import ErrorType, Split, Verdict
from components.records.image_bank import ImageBank

SHARD = "imported/mine/assets/pictures-00000-of-00001.parquet"
GOOD = {"image": "good.png", "label": "real", "id": "good"}


def bad_rows() -> dict[str, tuple[dict[str, Any], str]]:
    """Rows that are refused, each with its reason; their pictures are in `bad_pictures`."""
    rows = {
        "no label": ({"image": "good.png"}, "missing_field"),
        "no picture": ({"label": "real"}, "missing_field"),
        "wrong label": ({"image": "good.png", "label": "maybe"}, "wrong_label"),
        "a number": ({"image": "good.png", "label": 1}, "wrong_label"),
        "damaged": ({"image": "cut.jpg", "label": "real"}, "picture_unreadable"),
        "text": ({"image": "text.png", "label": "real"}, "picture_unreadable"),
        "a program": ({"image": "program.eps", "label": "real"}, "picture_unreadable"),
        "empty": ({"image": "empty.png", "label": "real"}, "picture_unreadable"),
        "bomb": ({"image": "bomb.png", "label": "real"}, "picture_too_large"),
        "sliver": ({"image": "sliver.png", "label": "real"}, "picture_too_small"),
        "animated": ({"image": "moving.gif", "label": "real"}, "picture_animated"),
        "missing": ({"image": "nowhere.png", "label": "real"}, "picture_missing"),
        "a folder": ({"image": "inner", "label": "real"}, "picture_missing"),
        "climbing": ({"image": "../outside.png", "label": "real"}, "leaves_folder"),
        "climbing later": ({"image": "inner/../../outside.png", "label": "real"}, "leaves_folder"),
        "climbing backwards": ({"image": "inner\\..\\..\\outside.png", "label": "real"}, "leaves_folder"),
        "absolute": ({"image": "/etc/hostname", "label": "real"}, "leaves_folder"),
        "a drive": ({"image": "C:\\x.png", "label": "real"}, "leaves_folder"),
        "an address": ({"image": "https://example.org/x.png", "label": "real"}, "leaves_folder"),
        "a pipe": ({"image": "pipe.png", "label": "real"}, "picture_missing"),
        "a NUL": ({"image": "a\0b.png", "label": "real"}, "picture_missing"),
        "a long name": ({"image": "x" * 5000, "label": "real"}, "picture_missing"),
        "a link": ({"image": "link.png", "label": "real"}, "symbolic_link"),
        "below a link": ({"image": "linked/inner.png", "label": "real"}, "symbolic_link"),
        "half a character": ({"image": "good.png", "label": "real", "claim": "\ud800"}, "not_utf8"),
        "a telling id": ({"image": "good.png", "label": "real", "case_id": "real-17"}, "telling_id"),
        "a telling category": (
            {"image": "good.png", "label": "fake", "case_id": "EF1-17", "category": "EF1"}, "telling_id",
        ),
        "a path as id": ({"image": "good.png", "label": "real", "case_id": "../x"}, "wrong_id"),
        "an error that is none": (
            {"image": "good.png", "label": "real", "category": "numerical alteration"}, "label_and_category_disagree",
        ),
    }  # fmt: skip
    return rows


def bad_pictures(root: Path) -> None:
    frames = [Image.new("RGB", (32, 32), colour) for colour in ("red", "green")]
    moving = io.BytesIO()
    frames[0].save(moving, format="GIF", save_all=True, append_images=frames[1:])
    files = {
        "cut.jpg": picture(1, "JPEG", (200, 200))[:2000],
        "text.png": b"no picture",
        "program.eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n%%EndComments\nshowpage\n",
        "empty.png": b"",
        "bomb.png": bomb_picture(),
        "sliver.png": picture(2, size=(100, 3)),
        "moving.gif": moving.getvalue(),
        "inner/inner.png": picture(3),
    }
    raw_folder(root, "x", b"", files)
    (root / "x").unlink()
    (root.parent / "outside.png").write_bytes(picture(4))
    (root / "link.png").symlink_to("inner/inner.png")
    (root / "linked").symlink_to("inner")
    os.mkfifo(root / "pipe.png")


@pytest.mark.parametrize("name", bad_rows())
def test_a_bad_row_is_refused_by_name_and_the_rest_imported(tmp_path: Path, name: str) -> None:
    row, reason = bad_rows()[name]
    folder = user_folder(tmp_path / "photos", [row, GOOD], {"good.png": picture(0)})
    bad_pictures(folder)
    summary = take_in(tmp_path, folder)
    assert (summary.imported, summary.refused) == (1, 1)
    assert refused_lines(tmp_path) == {1: reason}
    assert [gold.factual_status for gold in golds(tmp_path)] == [Verdict.SUPPORTED]
    assert len(refusals(tmp_path)[0].detail) < SHOWN + 200


@given(st.lists(st.sampled_from([*bad_rows(), "good"]), max_size=12))
@settings(max_examples=25, deadline=None)
def test_what_is_imported_and_what_is_refused_are_all_rows(kinds: list[str]) -> None:
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        rows, expected, files = [], {}, {"good.png": picture(0)}
        for line, kind in enumerate(kinds, 1):
            if kind == "good":
                files[f"{line}.png"] = picture(100 + line)
                rows.append({"image": f"{line}.png", "label": "fake", "id": line})
            else:
                rows.append(bad_rows()[kind][0])
                expected[line] = bad_rows()[kind][1]
        folder = user_folder(root / "photos", [*rows, GOOD], files)
        bad_pictures(folder)
        summary = take_in(root, folder)
        assert summary.imported == kinds.count("good") + 1 == len(cases(root)) == len(golds(root))
        assert refused_lines(root) == expected
        assert sum(summary.reasons.values()) == len(expected)
        assert not [path for path in root.rglob("*") if path.name.endswith((".tmp", ".sqlite"))]


def test_duplicates_are_refused_and_say_of_what(tmp_path: Path) -> None:
    rows = [
        {"image": "a.png", "label": "real", "id": "1"},
        {"image": "b.png", "label": "real", "id": "1"},
        {"image": "a.png", "label": "fake", "id": "2"},
        {"image": "a.jpg", "label": "fake"},
        {"image": "b.png", "label": "fake"},
    ]
    pictures = {"a.png": picture(0), "b.png": picture(1), "a.jpg": picture(0)}
    summary = take_in(tmp_path, user_folder(tmp_path / "photos", rows, pictures))
    assert summary.imported == 2
    assert refused_lines(tmp_path) == {2: "duplicate_id", 3: "duplicate_picture", 4: "duplicate_picture"}
    assert "line 1" in refusals(tmp_path)[0].detail


def test_the_other_split_is_kept_and_not_repeated(tmp_path: Path) -> None:
    train = user_folder(tmp_path / "one", [{"image": "a.png", "label": "real"}], {"a.png": picture(0)})
    rows = [{"image": "a.png", "label": "real"}, {"image": "b.png", "label": "fake"}]
    test = user_folder(tmp_path / "two", rows, {"a.png": picture(0), "b.png": picture(1)})
    take_in(tmp_path, train, split=Split.TRAIN)
    before = tree(tmp_path / "data")
    take_in(tmp_path, test)
    after = tree(tmp_path / "data")
    assert {name for name, content in before.items() if after.get(name) != content} == {SHARD}
    assert refused_lines(tmp_path) == {1: "duplicate_id"}
    bank = ImageBank(tmp_path / "data/imported/mine")
    kept = [*cases(tmp_path, split="train"), *cases(tmp_path)]
    assert [bank.read(case.image_sha256) for case in kept] == [picture(0), picture(1)]
    assert (len(cases(tmp_path, split="train")), len(cases(tmp_path))) == (1, 1)


def test_the_same_row_is_the_same_case_wherever_it_stands(tmp_path: Path) -> None:
    rows = [{"image": f"{n}.png", "label": "real", **({"id": n} if n % 2 else {})} for n in range(4)]
    pictures = {f"{n}.png": picture(n) for n in range(4)}
    take_in(tmp_path, user_folder(tmp_path / "one", rows, pictures), "one")
    take_in(tmp_path, user_folder(tmp_path / "two", rows[::-1], pictures), "two")
    assert tree(tmp_path / "data/imported/one") == tree(tmp_path / "data/imported/two")
    take_in(tmp_path, tmp_path / "one", "one")
    assert tree(tmp_path / "data/imported/one") == tree(tmp_path / "data/imported/two")


def test_a_row_keeps_all_it_says_in_private(tmp_path: Path) -> None:
    row = {
        "Image Path": "a.png", "Verdict": "Refuted", "statement": "A gala.", "error-type": "Numerical alteration",
        "url": "https://example.org/a", "explanation": "It was nine.", "generator": "pencil", "id": 7,
    }  # fmt: skip
    summary = take_in(tmp_path, user_folder(tmp_path / "photos", [row], {"a.png": picture(0)}))
    assert summary.imported == 1
    gold = load_gold(_as_checkout(tmp_path), Split.TEST)[cases(tmp_path)[0].case_id]
    assert (gold.factual_status, gold.error_type) == (Verdict.REFUTED, ErrorType.NUMERICAL_ALTERATION)
    assert (gold.target_claim, gold.image_origin, gold.checks) == ("A gala.", "pencil", ())
    source = json.loads((tmp_path / "data/private/imported/mine/test.sources.jsonl").read_text())
    assert (source["explanation"], source["provenance"]) == ("It was nine.", "https://example.org/a")
    assert (source["source_id"], source["original_path"], source["category"]) == ("7", "a.png", "Numerical alteration")


def _as_checkout(root: Path) -> Paths:
    """A checkout whose benchmark is the import."""
    paths = Paths(root / "other")
    paths.gold.parent.mkdir(parents=True)
    paths.gold.symlink_to(root / "data/private/imported/mine")
    return paths


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "chunk", "tail", "WEBP", "GIF"])
def test_nothing_private_is_public(tmp_path: Path, kind: str) -> None:
    secret = b"GALA-17-IS-FAKE"
    exif = Image.Exif()
    exif[0x010E] = secret.decode()
    info = PngInfo()
    info.add_text("Comment", secret.decode())
    plain = picture(0)
    data = {
        "JPEG": lambda: picture(0, "JPEG", exif=exif, comment=secret),
        "PNG": lambda: picture(0, "PNG", pnginfo=info, exif=exif),
        "chunk": lambda: plain[:-12] + chunk(b"prVt", secret) + plain[-12:],
        "tail": lambda: plain + secret,
        "WEBP": lambda: picture(0, "WEBP", exif=exif, xmp=secret),
        "GIF": lambda: picture(0, "GIF", comment=secret),
    }[kind]()
    assert secret in data
    name = f"{secret.decode()}.bin"
    row = {"image": name, "label": "fake", "claim": secret.decode(), "source": secret.decode(), "id": secret.decode()}
    take_in(tmp_path, user_folder(tmp_path / "photos", [row], {name: data}))
    public = tree(tmp_path / "data/imported/mine")
    assert {f"imported/mine/{name}" for name in public} == {SHARD, "imported/mine/test.jsonl"}
    assert not [path for path, content in public.items() if secret in content or "GALA" in path]
    assert not [path for path, content in public.items() if path.endswith(".jsonl") and b"refuted" in content]
    (case,) = cases(tmp_path)
    stored = ImageBank(tmp_path / "data/imported/mine").read(case.image_sha256)
    shown = Image.open(io.BytesIO(stored))
    assert (shown.format, shown.mode, shown.info) == ("PNG", "RGB", {})


def test_the_order_of_the_table_tells_nothing(tmp_path: Path) -> None:
    rows = [{"image": f"{n}.png", "label": "real" if n < 8 else "fake", "id": n} for n in range(16)]
    take_in(tmp_path, user_folder(tmp_path / "p", rows, {f"{n}.png": picture(n) for n in range(16)}))
    ids = [case.case_id for case in cases(tmp_path)]
    assert ids == sorted(ids)
    assert len({gold.factual_status for gold in golds(tmp_path)[:8]}) == 2


def test_an_import_without_one_good_row_leaves_what_was_there(tmp_path: Path) -> None:
    take_in(tmp_path, user_folder(tmp_path / "a", [GOOD], {"good.png": picture(0)}))
    before = tree(tmp_path / "data")
    with pytest.raises(UsageError, match=r"1 of 1 are refused as wrong_label, the first on line 1: 'x' is neither"):
        take_in(tmp_path, user_folder(tmp_path / "b", [{"image": "good.png", "label": "x"}], {}))
    assert tree(tmp_path / "data") == before


def test_a_dry_run_counts_the_same_and_writes_nothing(tmp_path: Path) -> None:
    rows = [GOOD, {"image": "good.png", "label": "fake"}, {"image": "x.png", "label": "fake"}]
    folder = user_folder(tmp_path / "a", rows, {"good.png": picture(0)})
    before = tree(tmp_path)
    tried = try_import(ImportRequest(folder, "mine", Split.TEST), Paths(tmp_path))
    assert tree(tmp_path) == before
    done = take_in(tmp_path, folder)
    assert (tried.labels, tried.reasons, tried.fields.found) == (done.labels, done.reasons, done.fields.found)


def test_parquet_may_hold_the_pictures_themselves(tmp_path: Path) -> None:
    images = [{"bytes": picture(0), "path": "a.png"}, {"bytes": None, "path": "b.png"}]
    folder = raw_folder(tmp_path / "p", "x", b"", {"b.png": picture(1)})
    pq.write_table(pa.table({"image": images, "label": ["real", "fake"]}), folder / "t.parquet")
    assert take_in(tmp_path, folder / "t.parquet").imported == 2


def test_several_tables_are_not_guessed_between(tmp_path: Path) -> None:
    folder = raw_folder(tmp_path / "p", "a.csv", b"image,label\ngood.png,real\n", {"good.png": picture(0)})
    (folder / "b.csv").write_bytes(b"")
    with pytest.raises(UsageError, match=r"several tables \(a.csv, b.csv\); name the one to import with --table"):
        take_in(tmp_path, folder)
    assert take_in(tmp_path, folder, table="a.csv").imported == 1


def test_a_linked_table_is_taken_only_when_it_is_named(tmp_path: Path) -> None:
    folder = raw_folder(tmp_path / "p", "x", b"image,label\ngood.png,real\n", {"good.png": picture(0)})
    (folder / "metadata.csv").symlink_to("x")
    with pytest.raises(UsageError, match="not a link"):
        take_in(tmp_path, folder)


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize("base", ["", "release-1/"])
def test_an_archive_is_imported_without_unpacking_it(tmp_path: Path, base: str) -> None:
    rows = lines({"image": "images/a.png", "label": "real"}, {"image": "../a.png", "label": "real"})
    members = {f"{base}metadata.jsonl": rows, f"{base}images/a.png": picture(0), "__MACOSX/x.csv": b""}
    summary = take_in(tmp_path, zipped(tmp_path / "r.zip", members))
    assert (summary.imported, refused_lines(tmp_path)) == (1, {2: "leaves_folder"})
    assert not list(tmp_path.rglob("a.png"))


def test_bombs_links_and_damage_in_an_archive_are_refused_by_row(tmp_path: Path) -> None:
    names = ["good.png", "bomb.png", "huge.png", "link.png", "pixels.png", "torn.png"]
    rows = lines(*({"image": name, "label": "real"} for name in names))
    path = zipped(tmp_path / "r.zip", {"metadata.jsonl": rows, "good.png": picture(0), "pixels.png": bomb_picture()})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.png", bytes(40_000_000))
        archive.writestr("huge.png", b"", zipfile.ZIP_STORED)
        link = zipfile.ZipInfo("link.png")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "good.png")
        archive.writestr(zipfile.ZipInfo("torn.png"), picture(5, size=(40, 40)))
    data = path.read_bytes()
    at = data.index(b"torn.png") + 200
    path.write_bytes(data[:at] + b"????" + data[at + 4 :])
    take_in(tmp_path, path)
    assert refused_lines(tmp_path) == {
        2: "zip_bomb",
        3: "picture_unreadable",
        4: "symbolic_link",
        5: "picture_too_large",
        6: "picture_unreadable",
    }


def test_an_archive_whose_table_is_a_bomb_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "r.zip", {"metadata.jsonl": bytes(30_000_000)})
    with pytest.raises(UsageError, match="zip bomb of 30000000 bytes"):
        take_in(tmp_path, path)
    (tmp_path / "no.zip").write_bytes(b"PK no")
    with pytest.raises(UsageError, match="no readable ZIP"):
        take_in(tmp_path, tmp_path / "no.zip")
    assert not (tmp_path / "data/imported/mine").exists()


@pytest.mark.slow
def test_a_killed_import_leaves_nothing_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    rows = [{"image": f"{n}.png", "label": "real"} for n in range(40)]
    pictures = {f"{n}.png": picture(n, size=(500, 500), compress_level=0) for n in range(40)}
    folder = user_folder(tmp_path / "photos", rows, {name: data + b"tail" for name, data in pictures.items()})
    (tmp_path / "params.yaml").touch()
    argv = [sys.executable, "-m", "components.cli", "--root", tmp_path, "data", "import", folder, "--into", "mine"]
    child = subprocess.Popen(argv, cwd=Path(__file__).parents[4], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    staging = tmp_path / "data/imported"
    while not [path for path in staging.glob(".mine.*.tmp/.pictures.sqlite") if path.stat().st_size > 2_000_000]:
        assert child.poll() is None
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not (staging / "mine").exists()
    assert not (tmp_path / "data/private/imported/mine").exists()
    assert list(staging.glob(".mine.*.tmp"))
    (folder / "metadata.jsonl").write_bytes(lines(*rows[:3]))
    assert take_in(tmp_path, folder).imported == 3
    assert [path.name for path in staging.iterdir()] == ["mine"]
    assert [path.name for path in (tmp_path / "data/private/imported").iterdir()] == ["mine"]
