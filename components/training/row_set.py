"""The rows of `data/sft` for the trainer: read as they were written, and only where the processor report fits."""

import json

from components.config.paths import Paths
from components.config.schema import Params
from components.storage.identity import digest_file
from components.training.processor import NAMES, read_report, refuse, require_same
from components.training.row_record import RowsHash
from components.training.row_store import TRAINING, iterate_rows
from components.training.rows import Row


def load_rows(params: Params, paths: Paths) -> list[Row]:
    """The rows to train on, in their order.

    Raises:
        EviflowError: there are none, or rows, tokenizer, template, pictures' settings, tools or parameters are others
            than those that the processor report is about.

    """
    report = read_report(paths.sft_rows)
    require_same(report, params, paths.base_policy, paths.sft_rows)
    content, rows = RowsHash(), []
    for record in iterate_rows(paths.sft_rows, TRAINING):
        record.check(report.image_id, report.merge_size)
        content.add(record)
        rows.append(record.row())
    wrong = [] if content.hexdigest() == report.shards[TRAINING].sha256 else ["its rows have changed since"]
    if digest_file(paths.sft_rows / NAMES) != report.names_sha256:
        wrong.append(f"{NAMES} has changed since")
    refuse(paths.sft_rows, wrong)
    return rows


def load_names(paths: Paths) -> list[list[str]]:
    """What renaming may exchange; `load_rows` has checked it."""
    pools: list[list[str]] = json.loads((paths.sft_rows / NAMES).read_text("utf-8"))["pools"]
    return pools
