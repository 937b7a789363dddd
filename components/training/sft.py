"""Stage `sft`: supervised fine-tuning of the student on reviewed teacher episodes (EviScene's first training step).

What differs from the paper: the size, the optimizer (Muon, which learns faster from scratch), and that the weighted
loss is divided by the batch's sum of weights, which the paper leaves open.

    eviflow stage sft
"""

import shutil
from collections import Counter
from collections.abc import Sequence

from components.agent.render import messages_of
from components.config.paths import Paths
from components.config.schema import Params
from components.errors import EviflowError
from components.policies.encoding import ChatEncoder
from components.policies.student import load_student, save_student
from components.records.admitted import admitted_episodes, teacher_bank
from components.records.base import Record
from components.records.episode import Episode
from components.storage.atomic import replace_folder
from components.storage.identity import digest_params, digest_tree, digest_value
from components.tools.registry import schemas_for
from components.training.loop import OnStep, Trainer
from components.training.renaming import Renaming
from components.training.rows import Row, encode_episode

ROLLING = 25
"""Steps over which the final training loss is averaged."""


class SftResult(Record):
    """What the stage made."""

    metrics: dict[str, float]
    """`train/loss` over the last steps, `train/rows`, `train/supervised_share`, rejections by reason."""


def train_sft(params: Params, paths: Paths, on_step: OnStep) -> SftResult:
    """Train the base policy and write it to `paths.sft_policy`; a killed run goes on from its last checkpoint.

    Args:
        params: all settings; `sft` and `policy.max_length` are used.
        paths: where base policy, reviewed episodes and pictures lie.
        on_step: called after each optimizer step.

    """
    work = paths.work / "sft" / _work_key(params, paths)
    model, tokenizer, image_processor = load_student(paths.base_policy)
    encoder = ChatEncoder(tokenizer, image_processor, teacher_bank(paths))
    episodes = admitted_episodes(paths)
    rows, rejected = build_rows(episodes, encoder, params)
    if not rows:
        raise EviflowError("no reviewed episode fits the student; raise policy.max_length or look at reports/data")
    renaming = Renaming(episodes, tokenizer).apply if params.sft.renaming else None
    trainer = Trainer(model, encoder, rows, params.sft, work / "checkpoint.pt", renaming)
    trainer.run(on_step)
    with replace_folder(paths.sft_policy) as folder:
        save_student(folder, model.eval(), tokenizer, image_processor)
    shutil.rmtree(work, ignore_errors=True)
    return SftResult(metrics=_summary(rows, rejected, trainer.losses))


def build_rows(episodes: Sequence[Episode], encoder: ChatEncoder, params: Params) -> tuple[list[Row], Counter[str]]:
    """Rows of all episodes that fit, and a count of those that do not, by reason. Nothing is ever cut."""
    rows: list[Row] = []
    rejected: Counter[str] = Counter()
    for episode in episodes:
        tools = schemas_for(episode.exposed_tools, episode.tool_set)
        for row in encode_episode(episode, messages_of(episode), tools, encoder, params.sft):
            if row.length > params.policy.max_length:
                rejected["too_long"] += 1
            elif not any(row.weights):
                rejected["nothing_supervised"] += 1
            else:
                rows.append(row)
    return rows, rejected


def _summary(rows: Sequence[Row], rejected: Counter[str], losses: Sequence[float]) -> dict[str, float]:
    tokens = sum(row.length for row in rows)
    supervised = sum(weight > 0 for row in rows for weight in row.weights)
    last = losses[-ROLLING:]
    return {
        "train/rows": float(len(rows)),
        "train/mean_length": tokens / len(rows),
        "train/supervised_share": supervised / tokens,
        "train/final_loss": sum(last) / len(last),
        **{f"train/rejected_{reason}": float(count) for reason, count in rejected.items()},
    }


def _work_key(params: Params, paths: Paths) -> str:
    """Names the unfinished work: the same only where recipe, data and base policy are."""
    parts = {
        "params": digest_params(params, ["sft", "policy"]),
        "episodes": digest_tree(paths.reviewed),
        "rerolled": digest_tree(paths.rerolled),
        "base": digest_tree(paths.base_policy),
    }
    return digest_value(parts)[:16]
