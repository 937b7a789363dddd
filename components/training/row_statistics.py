"""What a set of training rows holds, counted: episodes, tokens, lengths, verdicts, and what was left out and why."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from components.records.base import Record
from components.records.episode import Episode, StepKind
from components.training.cache_audit import CacheAudit, CacheAuditor
from components.training.row_record import RowRecord
from components.training.row_rules import Refusal

BUCKETS = {"up_to_8K": 8, "8K_to_16K": 16, "16K_to_32K": 32, "32K_to_64K": 64, "64K_to_128K": 128}
"""Upper ends of lengths, in 1,024 tokens, each included."""
BEYOND = "over_128K"


class Spread(Record):
    """How numbers are spread."""

    total: int
    mean: float
    median: float
    p95: float
    max: int
    min: int


class RowStatistics(Record):
    """`statistics.json`. What does not say otherwise is of the rows to train on."""

    admitted: int
    """Episodes that were read."""
    episodes: int
    """Episodes with a row to train on."""
    rows: int
    tokens: Spread | None
    """Of rows; None where there are none."""
    supervised_tokens: Spread | None
    supervised_share: float
    """Of all tokens, 0..1."""
    images: Spread | None
    """Of rows."""
    tool_calls: Spread | None
    """Executed calls, of episodes."""
    by_tool: dict[str, int]
    """The same by tool."""
    length_buckets: dict[str, int]
    """Rows by length; K is 1,024 tokens."""
    verdicts: dict[str, int]
    """Episodes by the report's verdict; `none` for those without."""
    steps: int
    """Turns of the episodes."""
    masked_steps: int
    """Those of them that weigh nothing."""
    quick_episodes: int
    """Admitted episodes that end after few calls."""
    quick_kept: int
    """Those of them that are not left out for it."""
    action_only_episodes: int
    """Episodes with rows in the shards of their own."""
    action_only_rows: int
    rejected: dict[str, int]
    """Lines of `rejected.jsonl` by reason: episodes, or rows where one row of an episode is meant."""
    cache: CacheAudit
    """Of the admitted episodes."""


class Counting:
    """Counts while rows are made; holds a few numbers of each row."""

    def __init__(self) -> None:
        self._audit = CacheAuditor()
        self._admitted = self._quick = self._kept = self._steps = self._masked = 0
        self._rows: list[tuple[int, int, int]] = []
        self._calls: list[int] = []
        self._tools: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._apart: Counter[str] = Counter()
        self._rejected: Counter[str] = Counter()

    def admitted(self, episode: Episode, quick: bool, kept: bool) -> None:
        """An episode was read."""
        self._admitted += 1
        self._quick += quick
        self._kept += quick and kept
        self._audit.add(episode)

    def trained(self, episode: Episode, records: Sequence[RowRecord]) -> None:
        """Rows to train on were written for an episode."""
        executed = [step for step in episode.steps if step.kind is StepKind.ACTION]
        self._rows += [(item.length, item.supervised_tokens, len(item.images)) for item in records]
        self._calls.append(len(executed))
        self._tools.update(step.call.name for step in executed if step.call)
        self._verdicts[records[0].verdict or "none"] += 1
        self._steps += len(episode.steps)
        self._masked += sum(step.masked for step in episode.steps)

    def apart(self, records: Sequence[RowRecord]) -> None:
        """Rows of an episode were written into the shards of their own."""
        self._apart[records[0].episode_id] += len(records)

    def rejected(self, refusal: Refusal) -> None:
        """A row or an episode is left out."""
        self._rejected[refusal.reason.value] += 1

    @property
    def statistics(self) -> RowStatistics:
        """Of what was counted."""
        lengths, supervised, images = ([row[at] for row in self._rows] for at in range(3))
        return RowStatistics(
            admitted=self._admitted,
            episodes=len(self._calls),
            rows=len(self._rows),
            tokens=_spread(lengths),
            supervised_tokens=_spread(supervised),
            supervised_share=sum(supervised) / sum(lengths) if lengths else 0.0,
            images=_spread(images),
            tool_calls=_spread(self._calls),
            by_tool=dict(sorted(self._tools.items())),
            length_buckets=_buckets(lengths),
            verdicts=dict(sorted(self._verdicts.items())),
            steps=self._steps,
            masked_steps=self._masked,
            quick_episodes=self._quick,
            quick_kept=self._kept,
            action_only_episodes=len(self._apart),
            action_only_rows=self._apart.total(),
            rejected=dict(sorted(self._rejected.items())),
            cache=self._audit.found,
        )


def length_bucket(length: int) -> str:
    """The bucket that a length is in."""
    return next((name for name, end in BUCKETS.items() if length <= end * 1024), BEYOND)


def _buckets(lengths: Sequence[int]) -> dict[str, int]:
    found = Counter(map(length_bucket, lengths))
    return {name: found[name] for name in (*BUCKETS, BEYOND)}


def _spread(numbers: Sequence[int]) -> Spread | None:
    if not numbers:
        return None
    return Spread(
        total=sum(numbers),
        mean=sum(numbers) / len(numbers),
        median=float(np.median(numbers)),
        p95=float(np.quantile(numbers, 0.95)),
        max=max(numbers),
        min=min(numbers),
    )
