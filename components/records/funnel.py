"""The way from planned cases to released ones, as numbers: one record for reports, terminal and data card."""

from collections.abc import Sequence
from typing import NamedTuple

from components.records.base import Record
from components.records.case import Split


class Screening(Record):
    """What became of pictures, drawn or collected. drawn = kept + rejected; planned = kept + dropped."""

    planned: int
    drawn: int
    """With those that were found on the web, but for the ones that nothing speaks against and no case needed."""
    rejected: int
    reasons: dict[str, int]
    """Why drawings were rejected; one may have several reasons."""
    redrawn: int
    """Cases that were kept after a rejection."""
    dropped: int
    """Cases of which no drawing was taken."""
    kept: int


class Reviewed(Record):
    """What became of the candidates of a split. candidates = accepted + edited + rejected."""

    candidates: int
    accepted: int
    edited: int
    """Taken with changes."""
    rejected: int

    @property
    def released(self) -> int:
        """What the release holds."""
        return self.accepted + self.edited


class FunnelRow(NamedTuple):
    """One line of the table."""

    title: str
    counts: tuple[int, ...]
    """One for each split, then their sum."""
    detail: bool = False
    """Whether it is a part of the line above."""


class Funnel(Record):
    """Planned, drawn, screened, reviewed, released, by split."""

    screening: dict[Split, Screening]
    reviewed: dict[Split, Reviewed]

    @property
    def columns(self) -> tuple[str, ...]:
        """Titles of the counts."""
        return (*(split.value for split in self.reviewed), "all")

    def rows(self) -> list[FunnelRow]:
        """The table, from planned to released."""
        screened = [self.screening[split] for split in self.reviewed]
        reviewed = list(self.reviewed.values())
        reasons = sorted({reason for screening in screened for reason in screening.reasons})
        return [
            _row("planned", [item.planned for item in screened]),
            _row("drawn", [item.drawn for item in screened]),
            _row("drawings rejected in screening", [item.rejected for item in screened]),
            *(_row(reason, [item.reasons.get(reason, 0) for item in screened], detail=True) for reason in reasons),
            _row("dropped, no drawing taken", [item.dropped for item in screened]),
            _row("candidates", [item.candidates for item in reviewed]),
            _row("rejected by reviewers", [item.rejected for item in reviewed]),
            _row("released", [item.released for item in reviewed]),
            _row("accepted as they were", [item.accepted for item in reviewed], detail=True),
            _row("edited", [item.edited for item in reviewed], detail=True),
        ]

    def markdown(self) -> str:
        """The table in Markdown."""
        return markdown_table(self.columns, self.rows())


def markdown_table(columns: Sequence[str], rows: Sequence[FunnelRow]) -> str:
    """A table in Markdown; a part of the line above begins with a dash."""
    lines = [("", *columns), ("---", *("---:" for _ in columns))]
    lines += [(f"- {row.title}" if row.detail else row.title, *map(str, row.counts)) for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(title: str, counts: Sequence[int], detail: bool = False) -> FunnelRow:
    return FunnelRow(title.replace("_", " "), (*counts, sum(counts)), detail)
