"""A training row as it is kept: ids, weights, spans and the pictures that belong in it, bound together by a hash."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

import numpy as np

from components.errors import EviflowError
from components.policies.encoding import ChatEncoder, Encoded
from components.records.episode import Episode, StepKind
from components.training.rows import Row, Span
from components.training.spans import SpanName


class Bucket(StrEnum):
    """What an episode can teach."""

    REASONING = "reasoning"
    """Every call was thought about."""
    ACTION_ONLY = "action_only"
    """A call has no readable thought; none is ever made up."""


class Picture(NamedTuple):
    """A picture of a row, in the order of its placeholders."""

    sha256: str
    grid: tuple[int, int, int]
    """Temporal, vertical and horizontal number of patches."""
    start: int
    """Position of its first placeholder."""
    tokens: int
    """Placeholders, one for each feature."""


@dataclass(frozen=True)
class RowRecord:
    """One row of `data/sft`; its fields are the columns of a shard."""

    row_id: str
    """`<episode id>#<part>`."""
    episode_id: str
    case_id: str
    part: int
    """0-based; an episode has several parts where the chat template leaves out earlier thoughts."""
    token_ids: list[int]
    """Every picture's placeholder repeated once per feature."""
    weights: list[float]
    """Single precision, one for each id: the loss weight of predicting it."""
    spans: tuple[Span, ...]
    """In order, without gaps."""
    images: tuple[Picture, ...]
    length: int
    """Tokens."""
    supervised_tokens: int
    """Those with a weight."""
    verdict: str | None
    """The report's."""
    tool_calls: int
    """Executed calls among the turns of the row."""
    bucket: str
    """`reasoning` or `action_only`."""

    def row(self) -> Row:
        """The same for the trainer."""
        turns = _turns(self.spans)
        encoded = Encoded(self.token_ids, turns, [picture.sha256 for picture in self.images])
        return Row(self.episode_id, encoded, self.weights, self.spans)

    def features(self, merge_size: int) -> int:
        """What the vision tower makes of its pictures, by their grids."""
        return sum(math.prod(picture.grid) // merge_size**2 for picture in self.images)

    def check(self, image_id: int, merge_size: int) -> None:
        """Make sure that spans cover the row and carry its weights, and that placeholders are as many as features.

        Raises:
            EviflowError: they do not; it names the row.

        """
        borders = [0, *(span.end for span in self.spans)]
        covered = [span.start for span in self.spans] == borders[:-1] and borders[-1] == len(self.token_ids)
        weighed = [span.weight for span in self.spans for _ in range(span.start, span.end)] == self.weights
        if not covered or not weighed or self.length != len(self.token_ids):
            raise EviflowError(f"the spans of row {self.row_id} are not those of its tokens; {REMEDY}")
        held = [at for at, token in enumerate(self.token_ids) if token == image_id]
        wanted = [at for picture in self.images for at in range(picture.start, picture.start + picture.tokens)]
        features = self.features(merge_size)
        if held != wanted or len(held) != features:
            raise EviflowError(
                f"row {self.row_id} has {len(held)} picture placeholders for {features} features of "
                f"{len(self.images)} pictures, or elsewhere than it says; {REMEDY}"
            )


REMEDY = "run `eviflow stage sft-rows` again"


def record_of(row: Row, episode: Episode, part: int, encoder: ChatEncoder, bucket: Bucket) -> RowRecord:
    """What is kept of a row: weights in single precision, and the pictures with their grids."""
    spans = tuple(span._replace(weight=float(np.float32(span.weight))) for span in row.spans)
    weights = [span.weight for span in spans for _ in range(span.start, span.end)]
    executed = {step.index for step in episode.steps if step.kind is StepKind.ACTION}
    return RowRecord(
        row_id=f"{episode.episode_id}#{part}",
        episode_id=episode.episode_id,
        case_id=episode.case.case_id,
        part=part,
        token_ids=row.encoded.token_ids,
        weights=weights,
        spans=spans,
        images=_pictures(row.encoded, encoder),
        length=row.length,
        supervised_tokens=sum(weight > 0 for weight in weights),
        verdict=episode.report.verdict.value if episode.report else None,
        tool_calls=len(executed & {span.step for span in spans if span.name is SpanName.TOOL_CALL}),
        bucket=bucket.value,
    )


class RowsHash:
    """SHA-256 over the content of rows in their order, whatever files they are spread over."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, record: RowRecord) -> None:
        """Take in the next row, every column of it."""
        told = {name: value for name, value in vars(record).items() if name not in ("token_ids", "weights")}
        ids, weights = np.asarray(record.token_ids, "<i4").tobytes(), np.asarray(record.weights, "<f4").tobytes()
        for part in (json.dumps(told, ensure_ascii=False).encode(), ids, weights):
            self._hash.update(len(part).to_bytes(8, "little") + part)

    def hexdigest(self) -> str:
        """Of the rows so far."""
        return self._hash.hexdigest()


def _pictures(encoded: Encoded, encoder: ChatEncoder) -> tuple[Picture, ...]:
    places = iter([at for at, token in enumerate(encoded.token_ids) if token == encoder.image_id])
    pictures = []
    for digest in encoded.images:
        tokens = encoder.image_tokens(digest)
        taken = list(islice(places, tokens))
        pictures.append(Picture(digest, encoder.grid(digest), taken[0] if taken else len(encoded.token_ids), tokens))
    return tuple(pictures)


def _turns(spans: Sequence[Span]) -> list[tuple[int, int]]:
    """Start and end of each turn: what the policy wrote in one step."""
    written = (SpanName.REASONING, SpanName.TOOL_CALL, SpanName.REPORT)
    turns: dict[int | None, tuple[int, int]] = {}
    for span in spans:
        if span.name in written:
            turns[span.step] = (turns.get(span.step, (span.start, 0))[0], span.end)
    return list(turns.values())
