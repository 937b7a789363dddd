"""Stage `sft-rows`: the reviewed episodes as rows of token ids and weights, with statistics and a processor report.

Nothing is cut and nothing is made up: a row that is too long, an episode whose report cites what cannot be read, a call
without a thought are left out of the rows to train on, each with its reason in `rejected.jsonl`.

    eviflow stage sft-rows
    eviflow stage sft-rows --show 0
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from components.agent.render import messages_of
from components.config.paths import Paths
from components.config.schema import Params
from components.errors import EviflowError
from components.policies.encoding import ChatEncoder
from components.policies.student import load_processor
from components.progress import track
from components.records.admitted import count_admitted, iterate_admitted, teacher_bank
from components.records.base import Record
from components.records.conversation import ToolSchema
from components.records.episode import Episode
from components.storage.atomic import replace_folder, write_json, write_jsonl
from components.storage.identity import digest_file
from components.tools.registry import schemas_for
from components.training.processor import (
    NAMES,
    REPORT,
    ProcessorReport,
    ToolsReport,
    digest_tools,
    processor_hashes,
)
from components.training.renaming import interchangeable
from components.training.row_record import Bucket, RowRecord, record_of
from components.training.row_rules import Reason, Refusal, bucket_of, dangling, is_kept, is_quick, row_refusal
from components.training.row_statistics import Counting
from components.training.row_store import ACTION_ONLY, TRAINING, VERSION, RowWriter
from components.training.rows import encode_episode
from components.training.spans import TagNotFound

REJECTED, STATISTICS = "rejected.jsonl", "statistics.json"


class SftRowsSummary(Record):
    """What the stage made, in short; `statistics.json` has the rest."""

    episodes: int
    """With a row to train on."""
    rows: int
    tokens: int
    longest: int
    """Tokens of the longest row."""
    supervised_share: float
    rejected: dict[str, int]
    """Episodes or rows by reason."""


def build_sft_rows(params: Params, paths: Paths) -> SftRowsSummary:
    """Write `data/sft` and `reports/data/sft-rows.json`.

    Args:
        params: `policy.max_length` and section `sft_rows` are used.
        paths: where the reviewed episodes, their pictures and the student's tokenizer lie.

    Raises:
        EviflowError: no episode is left, or a picture has other placeholders than features.
        UsageError: there is no student.

    """
    tokenizer, image_processor = load_processor(paths.base_policy)
    maker = RowMaker(ChatEncoder(tokenizer, image_processor, teacher_bank(paths)), params)
    with replace_folder(paths.sft_rows) as staging:
        shards = maker.write(iterate_admitted(paths), count_admitted(paths), staging)
        statistics = maker.counting.statistics
        write_json(paths.metrics / "sft-rows.json", statistics)
        if statistics.tokens is None:
            raise EviflowError(
                f"no reviewed episode became a row to train on; {paths.metrics / 'sft-rows.json'} counts the reasons "
                "(too_long: raise policy.max_length)"
            )
        write_json(staging / STATISTICS, statistics)
        write_jsonl(staging / REJECTED, maker.refusals)
        write_json(staging / NAMES, {"pools": interchangeable(iterate_admitted(paths))})
        write_json(staging / REPORT, maker.report(shards, paths.base_policy, staging))
    return SftRowsSummary(
        episodes=statistics.episodes,
        rows=statistics.rows,
        tokens=statistics.tokens.total,
        longest=statistics.tokens.max,
        supervised_share=round(statistics.supervised_share, 3),
        rejected=statistics.rejected,
    )


@dataclass
class RowMaker:
    """Makes rows of episodes, one after another.

    Args:
        encoder: the student's.
        params: `policy.max_length` and section `sft_rows` are used.

    """

    encoder: ChatEncoder
    params: Params
    counting: Counting = field(default_factory=Counting)
    refusals: list[Refusal] = field(default_factory=list)
    _tools: dict[tuple[tuple[str, ...], str], ToolsReport] = field(default_factory=dict)

    def write(self, episodes: Iterator[Episode], total: int, folder: Path) -> dict[str, RowWriter]:
        """Write the shards of both kinds into a staging folder."""
        shape = self.encoder.image_id, self.encoder.merge_size
        with RowWriter(folder, TRAINING, *shape) as training, RowWriter(folder, ACTION_ONLY, *shape) as apart:
            for episode in track(episodes, "sft-rows", total, "episodes"):
                self._write(episode, training, apart)
                self.encoder.drop_pixels()
        return {TRAINING: training, ACTION_ONLY: apart}

    def _write(self, episode: Episode, training: RowWriter, apart: RowWriter) -> None:
        """Write an episode where it belongs; what keeps it from one kind of shards is no matter to the other."""
        settings, bucket = self.params.sft_rows, bucket_of(episode)
        quick = is_quick(episode, settings)
        left_out = quick and not is_kept(episode.episode_id, settings)
        self.counting.admitted(episode, quick, not left_out)
        records = self._records(episode, bucket)
        if records and bucket is Bucket.ACTION_ONLY:
            self.counting.apart(records)
            for record in records:
                apart.append(record)
        if bucket is Bucket.ACTION_ONLY and not settings.action_only:
            self._refuse(episode, Reason.ACTION_ONLY, "a call has no thought before it")
        elif left_out:
            self._refuse(episode, Reason.QUICK, f"{episode.actions_used} calls, sft_rows.quick_share is below 1")
        elif records:
            self.counting.trained(episode, records)
            for record in records:
                training.append(record)

    def _records(self, episode: Episode, bucket: Bucket) -> list[RowRecord]:
        """The rows of an episode that can be learned from; the others are refused."""
        tools = self._tools_of(episode)
        try:
            rows = encode_episode(episode, messages_of(episode), tools, self.encoder, self.params.sft_rows)
        except TagNotFound as error:
            self._refuse(episode, Reason.TAG_NOT_FOUND, f"{error}")
            return []
        if rows and (unseen := dangling(episode, rows[-1], self.encoder.tokenizer)):
            self._refuse(episode, Reason.DANGLING_CITATION, ", ".join(unseen))
            return []
        records = []
        for part, row in enumerate(rows):
            refused = row_refusal(row, self.params.policy.max_length)
            if refused is None:
                records.append(record_of(row, episode, part, self.encoder, bucket))
            else:
                self._refuse(episode, *refused, part=part)
        return records

    def _tools_of(self, episode: Episode) -> tuple[ToolSchema, ...]:
        schemas = schemas_for(episode.exposed_tools, episode.tool_set)
        key = (episode.exposed_tools, episode.tool_set)
        if key not in self._tools:
            digest = digest_tools(schemas)
            self._tools[key] = ToolsReport(names=episode.exposed_tools, tool_set=episode.tool_set, sha256=digest)
        return schemas

    def _refuse(self, episode: Episode, reason: Reason, detail: str, part: int | None = None) -> None:
        refusal = Refusal(episode_id=episode.episode_id, part=part, reason=reason, detail=detail)
        self.refusals.append(refusal)
        self.counting.rejected(refusal)

    def report(self, shards: dict[str, RowWriter], base: Path, folder: Path) -> ProcessorReport:
        """The processor report of what was written.

        Args:
            shards: as `write` returned them.
            base: the student's folder.
            folder: has `names.json` already.

        """
        return ProcessorReport(
            layout=VERSION,
            shards={stem: writer.report for stem, writer in shards.items()},
            names_sha256=digest_file(folder / NAMES),
            **processor_hashes(base),
            image_id=self.encoder.image_id,
            merge_size=self.encoder.merge_size,
            max_length=self.params.policy.max_length,
            settings=self.params.sft_rows.model_dump(mode="json"),
            tools=tuple(self._tools.values()),
        )
