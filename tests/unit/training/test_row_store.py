"""Rows in their shards: what goes in comes out, and what does not belong there is refused."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from row_samples import counted, episode, many_pictures, searched

from components.agent.render import messages_of
from components.config.schema import SftRowsParams
from components.errors import EviflowError
from components.records.episode import Episode
from components.tools.registry import schemas_for
from components.training.row_record import Bucket, RowRecord, RowsHash, record_of
from components.training.row_store import ACTION_ONLY, TRAINING, RowWriter, find_rows, iterate_rows
from components.training.rows import encode_episode

PARAMS = SftRowsParams(reasoning_weight=0.3)


@pytest.fixture
def records(student_encoder) -> list[RowRecord]:
    return [recorded(item, student_encoder) for item in (many_pictures(), episode("plain", counted()))]


def recorded(item: Episode, encoder) -> RowRecord:
    tools = schemas_for(item.exposed_tools, item.tool_set)
    (row,) = encode_episode(item, messages_of(item), tools, encoder, PARAMS)
    return record_of(row, item, 0, encoder, Bucket.REASONING)


@pytest.fixture
def write(tmp_path, student_encoder):
    def written(rows: list[RowRecord], stem: str = TRAINING):
        with RowWriter(tmp_path, stem, student_encoder.image_id, student_encoder.merge_size) as writer:
            for row in rows:
                writer.append(row)
        return writer.report

    return written


def digest(rows: list[RowRecord]) -> str:
    content = RowsHash()
    for row in rows:
        content.add(row)
    return content.hexdigest()


@pytest.mark.incident("TR-5")
def test_row_keys_and_values_in_are_row_keys_and_values_out(records, write, tmp_path):
    report = write(records)
    read = list(iterate_rows(tmp_path, TRAINING))
    assert [vars(row) for row in read] == [vars(row) for row in records]
    assert digest(read) == report.sha256
    assert (report.rows, report.tokens) == (2, sum(row.length for row in records))
    assert report.placeholders == report.features == sum(row.features(2) for row in records) > 0


def test_a_row_has_its_pictures_in_order_with_grid_and_place(records, student_encoder):
    row = records[0]
    assert len({picture.grid for picture in row.images}) == 3
    assert [picture.start for picture in row.images] == sorted(picture.start for picture in row.images)
    for picture in row.images:
        held = row.token_ids[picture.start : picture.start + picture.tokens]
        assert set(held) == {student_encoder.image_id}


def test_the_trainers_row_has_ids_weights_turns_and_pictures(records, student_encoder):
    item = many_pictures()
    tools = schemas_for(item.exposed_tools, item.tool_set)
    (made,) = encode_episode(item, messages_of(item), tools, student_encoder, PARAMS)
    row = records[0].row()
    assert row.encoded == made.encoded
    assert row.weights == pytest.approx(made.weights)


@pytest.mark.incident("TR-6")
def test_the_hash_is_bound_to_every_column_to_pictures_and_to_order(records):
    first, second = records
    swapped = replace(first, images=(first.images[1], first.images[0], *first.images[2:]))
    others = [
        [second, first],
        [first],
        [swapped, second],
        [replace(first, token_ids=[*first.token_ids[:-1], 7]), second],
        [replace(first, weights=[*first.weights[:-1], 1.0]), second],
        [replace(first, spans=first.spans[:-1]), second],
        [replace(first, verdict=None), second],
    ]
    assert len({digest(rows) for rows in (records, *others)}) == len(others) + 1


@pytest.mark.incident("PT-1")
@pytest.mark.parametrize("extra", [-1, 1])
def test_a_row_with_more_or_fewer_placeholders_than_features_is_refused_by_name(records, write, student_encoder, extra):
    row = records[0]
    ids = list(row.token_ids)
    at = row.images[-1].start + row.images[-1].tokens - (extra < 0)
    ids[at] = student_encoder.image_id if extra > 0 else student_encoder.stop_id
    with pytest.raises(EviflowError, match=r"many--scripted--s0#0 has \d+ picture placeholders for \d+ features"):
        write([replace(row, token_ids=ids)])


@pytest.mark.incident("TR-6")
def test_a_picture_that_is_said_to_be_elsewhere_is_refused(records, write):
    first, second, third = records[0].images
    for images in ((first._replace(start=first.start + 1), second, third), (second, first, third)):
        with pytest.raises(EviflowError, match="or elsewhere than it says"):
            write([replace(records[0], images=images)])


def test_weights_that_are_not_those_of_the_spans_are_refused(records, write):
    with pytest.raises(EviflowError, match="spans of row many--scripted--s0#0"):
        write([replace(records[0], weights=[1.0] * records[0].length)])


@pytest.mark.incident("CX-5")
def test_lines_that_only_some_readers_break_do_not_break_a_row(student_encoder, write, tmp_path):
    told = "Harvest\u2028Gala\u2029or\u0085so\x0bon"
    rows = [recorded(episode("c", searched(f"Gala{mark}2031", told)), student_encoder) for mark in "\u2028\u2029\u0085"]
    write(rows)
    read = list(iterate_rows(tmp_path, TRAINING))
    assert [row.token_ids for row in read] == [row.token_ids for row in rows]
    assert told in student_encoder.tokenizer.decode(read[0].token_ids)


@pytest.mark.incident("PT-11")
def test_calls_with_other_arguments_keep_their_own(student_encoder, write, tmp_path):
    rows = [
        recorded(episode("a", searched("Gala")), student_encoder),
        recorded(episode("b", counted()), student_encoder),
    ]
    write(rows)
    texts = [student_encoder.tokenizer.decode(row.token_ids) for row in iterate_rows(tmp_path, TRAINING)]
    assert [text.count("<parameter=") for text in texts] == [2, 2]
    assert "target_object>" not in texts[0].partition("</tools>")[2]
    assert not any("None" in text for text in texts)


def test_a_shard_with_another_column_or_layout_is_refused_by_name(records, write, tmp_path):
    write(records)
    [file] = tmp_path.glob("*.parquet")
    table = pq.read_table(file)
    pq.write_table(table.append_column("messages", pa.array([[], []], pa.list_(pa.string()))), file)
    with pytest.raises(EviflowError, match=r"other columns than layout 1 \(.*messages"):
        list(iterate_rows(tmp_path, TRAINING))
    pq.write_table(table.replace_schema_metadata({"eviflow.sft_rows": "2"}), file)
    with pytest.raises(EviflowError, match="layout 2, and EviFlow reads layout 1"):
        list(iterate_rows(tmp_path, TRAINING))
    pq.write_table(table.replace_schema_metadata(None), file)
    with pytest.raises(EviflowError, match="layout none"):
        list(iterate_rows(tmp_path, TRAINING))


def test_a_row_is_found_by_number_id_and_episode(records, write, tmp_path):
    write(records)
    write([replace(records[1], row_id="silent#0", episode_id="silent")], ACTION_ONLY)
    for wanted in ("1", "plain--scripted--s0#0", "plain--scripted--s0"):
        assert [row.row_id for row in find_rows(tmp_path, wanted)] == ["plain--scripted--s0#0"]
    assert [row.row_id for row in find_rows(tmp_path, "2")] == ["silent#0"]
    assert find_rows(tmp_path, "3") == find_rows(tmp_path, "plain") == []
