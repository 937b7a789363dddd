"""Stage `sft`: supervised fine-tuning of the student on the rows of stage `sft-rows` (EviScene's first training step).

What differs from the paper: the size, the optimizer (Muon, which learns faster from scratch), and that the weighted
loss is divided by the batch's sum of weights, which the paper leaves open.

    eviflow stage sft
"""

import shutil
from collections.abc import Sequence

from components.config.paths import Paths
from components.config.schema import Params
from components.policies.encoding import ChatEncoder
from components.policies.student import load_student, save_student
from components.records.admitted import teacher_bank
from components.records.base import Record
from components.storage.atomic import replace_folder
from components.storage.identity import digest_params, digest_tree, digest_value
from components.training.loop import OnStep, Trainer
from components.training.renaming import Renaming
from components.training.row_set import load_names, load_rows
from components.training.rows import Row

ROLLING = 25
"""Steps over which the final training loss is averaged."""


class SftResult(Record):
    """What the stage made."""

    metrics: dict[str, float]
    """`train/loss` over the last steps, `train/rows`, `train/supervised_share`."""


def train_sft(params: Params, paths: Paths, on_step: OnStep) -> SftResult:
    """Train the base policy and write it to `paths.sft_policy`; a killed run goes on from its last checkpoint.

    Args:
        params: all settings; `sft` is used, and `sft_rows` and `policy.max_length` have to be those of the rows.
        paths: where base policy, training rows and pictures lie.
        on_step: called after each optimizer step.

    Raises:
        EviflowError: there are no rows, or they were made for another training.

    """
    rows = load_rows(params, paths)
    work = paths.work / "sft" / _work_key(params, paths)
    model, tokenizer, image_processor = load_student(paths.base_policy)
    encoder = ChatEncoder(tokenizer, image_processor, teacher_bank(paths))
    renaming = Renaming(load_names(paths), tokenizer).apply if params.sft.renaming else None
    trainer = Trainer(model, encoder, rows, params.sft, work / "checkpoint.pt", renaming)
    trainer.run(on_step)
    with replace_folder(paths.sft_policy) as folder:
        save_student(folder, model.eval(), tokenizer, image_processor)
    shutil.rmtree(work, ignore_errors=True)
    return SftResult(metrics=_summary(rows, trainer.losses))


def _summary(rows: Sequence[Row], losses: Sequence[float]) -> dict[str, float]:
    tokens = sum(row.length for row in rows)
    supervised = sum(weight > 0 for row in rows for weight in row.weights)
    last = losses[-ROLLING:]
    return {
        "train/rows": float(len(rows)),
        "train/mean_length": tokens / len(rows),
        "train/supervised_share": supervised / tokens,
        "train/final_loss": sum(last) / len(last),
    }


def _work_key(params: Params, paths: Paths) -> str:
    """Names the unfinished work: the same only where recipe, data and base policy are."""
    parts = {
        "params": digest_params(params, ["sft", "policy"]),
        "rows": digest_tree(paths.sft_rows),
        "base": digest_tree(paths.base_policy),
    }
    return digest_value(parts)[:16]
