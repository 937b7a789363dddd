import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from transfer_samples import cases, flip, golds, picture, take_in, tree, user_folder

from components.config.paths import SOURCE_ACCESS, Paths
from components.curation.build import BenchmarkSummary
from components.curation.transfer.exporting import ExportFormat, export_cases
from components.curation.transfer.hub import ShardWriter
from components.curation.transfer.mapping import Field, FieldMap, FieldRule
from components.curation.transfer.released import Release
from components.errors import EviflowError, UsageError
from components.records.case import Gold, Split
from components.records.image_bank import ImageBank
from components.storage.atomic import read_jsonl

words = st.text(st.characters(codec="utf-8"), max_size=30)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"label": st.sampled_from(["real", "fake", "supported", "REFUTED"])},
        optional={
            "id": st.integers(0, 99) | words,
            "case_id": st.from_regex(r"[a-c]-[0-9]{1,4}", fullmatch=True),
            "claim": words,
            "explanation": words,
            "category": st.sampled_from(["EF1", "a topic"]),
            "source": words,
            "image_origin": st.sampled_from(["camera", "pencil"]),
        },
    ),
    min_size=1,
    max_size=6,
)


def imported(root: Path, rows: list[dict[str, Any]], split: Split = Split.TEST, first: int = 0) -> Path:
    rows = [{"image": f"{at}.png", "label": "real"} | row for at, row in enumerate(rows)]
    files = {f"{at}.png": picture(first + at) for at in range(len(rows))}
    take_in(root, user_folder(root / f"photos-{split.value}", rows, files), split=split)
    return root


def export(root: Path, target: Path, layout: ExportFormat = ExportFormat.RELEASED, **options: Any) -> Any:
    paths = Paths(root)
    given = {"private": paths.imports_gold / "mine"} | options
    return export_cases(paths.imports / "mine", target, layout, **given)


@given(ROWS)
@settings(max_examples=20)
def test_what_is_exported_and_imported_again_is_the_same_byte_for_byte(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        imported(root, [{"id": "one that is always good"}, *rows])
        export(root, root / "released")
        take_in(root, root / "released", "again")
        assert tree(root / "data/imported/mine") == tree(root / "data/imported/again")
        before, after = (tree(root / f"data/private/imported/{name}") for name in ("mine", "again"))
        assert after.pop("test.refused.jsonl") == b""
        before.pop("test.refused.jsonl")
        assert before == after


@pytest.mark.slow
def test_the_built_benchmark_goes_out_and_comes_back_with_its_ids(
    small_benchmark: tuple[Paths, BenchmarkSummary], tmp_path: Path
) -> None:
    built, _ = small_benchmark
    for split in Split:
        folder = tmp_path / split.value
        export_cases(built.candidates, folder, ExportFormat.RELEASED, built.candidates_gold, split)
        take_in(tmp_path, folder, split=split)
        expected = (built.candidates / f"{split.value}.jsonl").read_bytes()
        assert (tmp_path / f"data/imported/mine/{split.value}.jsonl").read_bytes() == expected
        for before, after in zip(
            read_jsonl(built.candidates_gold / f"{split.value}.jsonl", Gold), golds(tmp_path, split=split), strict=True
        ):
            kept = ("case_id", "factual_status", "target_claim", "error_type", "image_origin")
            assert [getattr(before, name) for name in kept] == [getattr(after, name) for name in kept]
    assets = tree(built.candidates / "assets")
    assert assets == tree(tmp_path / "data/imported/mine/assets")


def test_the_released_layout_is_images_and_metadata(tmp_path: Path) -> None:
    imported(tmp_path, [{"id": "7", "claim": "A gala.", "label": "fake"}])
    assert export(tmp_path, tmp_path / "out").cases == {Split.TEST: 1}
    (case,) = cases(tmp_path)
    assert sorted(tree(tmp_path / "out")) == [f"images/{case.case_id}.png", "metadata.jsonl"]
    assert json.loads((tmp_path / "out/metadata.jsonl").read_text()) == {
        "case_id": case.case_id,
        "image_path": f"images/{case.case_id}.png",
        "image_sha256": case.image_sha256,
        "label": "refuted",
        "claim": "A gala.",
        "image_origin": "unknown",
        "id": "7",
        "original_path": "0.png",
        "route": "imported",
        "style": "imported",
        "split": "test",
    }


@pytest.mark.parametrize("layout", ExportFormat)
def test_without_gold_only_public_fields_are_exported(tmp_path: Path, layout: ExportFormat) -> None:
    imported(tmp_path, [{"id": "SECRET", "claim": "SECRET", "category": "SECRET", "source": "SECRET"}])
    export(tmp_path, tmp_path / "out", layout, private=None)
    for content in tree(tmp_path / "out").values():
        assert b"SECRET" not in content
        assert b"supported" not in content.replace(b"Pictures to be supported or refuted", b"")
        assert b"original_path" not in content
    if layout is ExportFormat.RELEASED:
        row = json.loads((tmp_path / "out/metadata.jsonl").read_text())
        assert set(row) == {"case_id", "image_path", "image_sha256"}
    else:
        assert pq.read_table(tmp_path / "out/data").column_names == ["case_id", "image"]


@pytest.mark.parametrize("layout", ExportFormat)
def test_the_addresses_that_are_kept_from_investigations_go_along(tmp_path: Path, layout: ExportFormat) -> None:
    imported(tmp_path, [{}])
    access = tmp_path / "data/imported/mine" / SOURCE_ACCESS
    access.write_text('{"excluded_urls": ["https://social.example/1"]}', "utf-8")
    export(tmp_path, tmp_path / "out", layout, private=None)
    assert (tmp_path / "out" / SOURCE_ACCESS).read_bytes() == access.read_bytes()


def test_several_splits_have_a_folder_each(tmp_path: Path) -> None:
    imported(tmp_path, [{}], Split.TRAIN)
    imported(tmp_path, [{}], Split.TEST, first=50)
    assert export(tmp_path, tmp_path / "both").cases == {Split.TRAIN: 1, Split.TEST: 1}
    assert sorted(path.name for path in (tmp_path / "both").iterdir()) == ["test", "train"]
    assert export(tmp_path, tmp_path / "one", split=Split.TRAIN).cases == {Split.TRAIN: 1}
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["images", "metadata.jsonl"]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    imported(tmp_path, [{}])
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("dear to me")
    with pytest.raises(UsageError, match="is not empty"):
        export(tmp_path, tmp_path / "out")
    assert tree(tmp_path / "out") == {"mine.txt": b"dear to me"}


def test_a_damaged_picture_or_another_gold_ends_an_export_and_leaves_nothing(tmp_path: Path) -> None:
    imported(tmp_path, [{}])
    with pytest.raises(UsageError, match=r"test\.jsonl does not exist"):
        export(tmp_path, tmp_path / "out", private=tmp_path)
    (tmp_path / "test.jsonl").write_text("")
    with pytest.raises(EviflowError, match="has no gold record of case-"):
        export(tmp_path, tmp_path / "out", private=tmp_path)
    with pytest.raises(UsageError, match=r"neither train\.jsonl nor test\.jsonl"):
        export_cases(tmp_path / "photos-test", tmp_path / "out", ExportFormat.RELEASED)
    (stored,) = (tmp_path / "data/imported/mine/assets").iterdir()
    flip(stored, stored.read_bytes().index(b"IDAT") + 40)
    with pytest.raises(EviflowError, match=f"picture {cases(tmp_path)[0].image_sha256} in .* is damaged"):
        export(tmp_path, tmp_path / "out")
    assert not [path.name for path in tmp_path.iterdir() if "out" in path.name]


def test_shards_stay_under_their_limit_and_hold_every_row_once(tmp_path: Path) -> None:
    imported(tmp_path, [{} for _ in range(40)])
    release = Release(tmp_path / "data/imported/mine", tmp_path / "data/private/imported/mine")
    with ShardWriter(tmp_path / "data/shards", "test", True, limit=60_000) as shards:
        for item in release.cases(Split.TEST):
            shards.add(item)
    files = sorted((tmp_path / "data/shards").iterdir())
    assert len(files) > 2
    assert files[0].name == f"test-00000-of-{len(files):05d}.parquet"
    assert all(path.stat().st_size <= 60_000 for path in files)
    ids = [name for path in files for name in pq.read_table(path).column("case_id").to_pylist()]
    assert ids == [case.case_id for case in cases(tmp_path)]


LOAD = """
import sys, json, datasets
loaded = datasets.load_dataset(sys.argv[1])
rows = {name: [dict(row, image=[row["image"].size, list(row["image"].getpixel((3, 4)))]) for row in split]
        for name, split in loaded.items()}
print(json.dumps({"rows": rows, "features": str(loaded["test"].features)}))
"""


def load(folder: Path, home: Path) -> dict[str, Any]:
    """What the real library reads, without network."""
    environment = os.environ | {"HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    argv = [sys.executable, "-c", LOAD, str(folder)]
    done = subprocess.run(argv, env=environment, cwd=home, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


@pytest.mark.slow
def test_the_datasets_library_reads_what_was_exported(tmp_path: Path) -> None:
    imported(tmp_path, [{"label": "fake", "claim": "Été"}], Split.TRAIN, first=50)
    imported(tmp_path, [{"label": "fake", "id": 1}, {"label": "real", "claim": "A gala.", "id": 2}])
    export(tmp_path, tmp_path / "out", ExportFormat.DATASETS)
    (tmp_path / "home").mkdir()
    found = load(tmp_path / "out", tmp_path / "home")
    assert "'image': Image(" in found["features"]
    assert "'label': ClassLabel(names=['supported', 'refuted'])" in found["features"]
    assert [row["claim"] for row in found["rows"]["train"]] == ["Été"]
    expected = []
    for case, gold in zip(cases(tmp_path), golds(tmp_path), strict=True):
        shown = ImageBank(tmp_path / "data/imported/mine").open(case.image_sha256)
        label = ["supported", "refuted"].index(gold.factual_status.value)
        expected.append((case.case_id, label, gold.target_claim, [list(shown.size), list(shown.getpixel((3, 4)))]))
    rows = found["rows"]["test"]
    assert [(row["case_id"], row["label"], row["claim"], row["image"]) for row in rows] == expected


@pytest.mark.slow
def test_the_datasets_library_reads_public_fields_alone(tmp_path: Path) -> None:
    imported(tmp_path, [{}])
    export(tmp_path, tmp_path / "out", ExportFormat.DATASETS, private=None)
    (tmp_path / "home").mkdir()
    assert set(load(tmp_path / "out", tmp_path / "home")["rows"]["test"][0]) == {"case_id", "image"}


def test_the_card_has_a_header(tmp_path: Path) -> None:
    imported(tmp_path, [{}])
    export(tmp_path, tmp_path / "out", ExportFormat.DATASETS)
    header = yaml.safe_load((tmp_path / "out/README.md").read_text().split("---\n")[1])
    assert header["configs"][0]["data_files"] == [{"split": "test", "path": "data/test-*.parquet"}]
    assert {"name": "image", "dtype": "image"} in header["dataset_info"]["features"]


def test_a_dataset_folder_can_be_imported_again(tmp_path: Path) -> None:
    imported(tmp_path, [{"label": "fake", "id": 1}, {"label": "real", "id": 2}])
    export(tmp_path, tmp_path / "out", ExportFormat.DATASETS)
    labels = FieldRule(field="label", values={"0": "supported", "1": "refuted"})
    shard = tmp_path / "out/data/test-00000-of-00001.parquet"
    take_in(tmp_path, shard, "again", fields=FieldMap({Field.LABEL: labels}))
    assert tree(tmp_path / "data/imported/mine") == tree(tmp_path / "data/imported/again")
    assert tree(tmp_path / "data/private/imported/mine") == tree(tmp_path / "data/private/imported/again")


def test_pictures_without_a_path_come_back_without_one(tmp_path: Path) -> None:
    table = pa.table({"image": [picture(0), picture(1)], "label": ["real", "fake"]})
    pq.write_table(table, tmp_path / "t.parquet")
    take_in(tmp_path, tmp_path / "t.parquet")
    export(tmp_path, tmp_path / "out")
    take_in(tmp_path, tmp_path / "out", "again")
    assert tree(tmp_path / "data/imported/mine") == tree(tmp_path / "data/imported/again")
    assert tree(tmp_path / "data/private/imported/mine") == tree(tmp_path / "data/private/imported/again")
