from pathlib import Path

import pytest
from transfer_samples import cases, golds, picture, raw_folder, refused_lines, take_in

from components.curation.transfer.mapping import NAMES, Field, FieldMap, FieldRule, load_mapping
from components.errors import UsageError
from components.records.case import Verdict

MAPPING = """
# whose columns are these
image: picture_file
label: {field: truth, values: {"yes": supported, "no": refuted, 1: supported, 0: refuted}}
claim: caption
"""


def mapping(tmp_path: Path, text: str) -> FieldMap:
    (tmp_path / "fields.yaml").write_text(text)
    return load_mapping(tmp_path / "fields.yaml")


def test_every_name_belongs_to_one_field() -> None:
    names = [name for several in NAMES.values() for name in several]
    assert len(names) == len(set(names))
    assert set(NAMES) == set(Field)


def test_a_mapping_file_names_columns_and_translates_values(tmp_path: Path) -> None:
    rows = (
        "picture_file;truth;caption;text",
        "a.png;YES;one;x",
        "b.png;0;two;x",
        "c.png;supported;three;x",
        "d.png;?;;",
    )
    table = "\n".join(rows).encode()
    pictures = {f"{name}.png": picture(at) for at, name in enumerate("abcd")}
    folder = raw_folder(tmp_path / "photos", "labels.csv", table, pictures)
    summary = take_in(tmp_path, folder, fields=mapping(tmp_path, MAPPING))
    assert {gold.target_claim: gold.factual_status for gold in golds(tmp_path)} == {
        "one": Verdict.SUPPORTED,
        "two": Verdict.REFUTED,
        "three": Verdict.SUPPORTED,
    }
    assert refused_lines(tmp_path) == {5: "wrong_label"}
    assert summary.fields.found == {Field.IMAGE: "picture_file", Field.LABEL: "truth", Field.CLAIM: "caption"}
    assert summary.fields.unused == ["text"]


@pytest.mark.parametrize("name", ["Image", "image_path", "FILE NAME", "file-name", "path"])
def test_common_names_are_recognised(tmp_path: Path, name: str) -> None:
    table = f"{name},Verdict\na.png,Fake\n".encode()
    take_in(tmp_path, raw_folder(tmp_path / "p", "t.csv", table, {"a.png": picture(0)}))
    assert len(cases(tmp_path)) == 1


def test_a_column_given_to_one_field_is_not_taken_for_another() -> None:
    fields = FieldMap({Field.CLAIM: FieldRule(field="source")})
    assert fields.read({"source": "x", "image": "a", "label": "b"}) == {
        Field.CLAIM: "x",
        Field.IMAGE: "a",
        Field.LABEL: "b",
    }


def test_of_several_columns_the_first_that_holds_something_is_read() -> None:
    assert FieldMap().read({"url": "u", "source": "", "provenance": None})[Field.PROVENANCE] == "u"


def test_rows_of_json_may_name_different_fields() -> None:
    fields = FieldMap()
    fields.read({"image": "a", "label": "real"})
    fields.read({"image": "a", "label": "fake", "category": "x", "mood": "good"})
    assert fields.found[Field.CATEGORY] == "category"
    assert fields.unused == ["mood"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("imagee: a", "unknown field 'imagee'; did you mean `image`?"),
        ("zzz: a", "unknown field 'zzz'; the fields are image, label"),
        ("label: {field: t, values: {x: maybe}}", "must become supported or refuted, not 'maybe'"),
        ("label: {column: t}", "`label` must be a column's name, or"),
        ("label: [a]", "`label` must be a column's name, or"),
        ("just words", "names no field"),
        ("", "names no field"),
        ("a: [", "is not valid YAML"),
    ],
)
def test_a_wrong_mapping_file_is_answered_in_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        mapping(tmp_path, text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_that_is_not_there_is_said_before_any_row_is_read(tmp_path: Path) -> None:
    folder = raw_folder(tmp_path / "p", "t.csv", b"image,truth\na.png,real\n", {})
    with pytest.raises(UsageError, match=r"no column for `label` among 'image', 'truth'; name it with --mapping"):
        take_in(tmp_path, folder)
    with pytest.raises(UsageError, match=r"no column 'verity', which the mapping gives for label"):
        take_in(tmp_path, folder, fields=mapping(tmp_path, "label: verity"))
