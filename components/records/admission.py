"""The way from collected teacher episodes to those that are learned from, as numbers: for reports and tables."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Self

from pydantic import model_validator

from components.records.base import Record
from components.records.funnel import FunnelRow, markdown_table


class Gate(StrEnum):
    """What an episode has to pass, in this order (EviScene's admission)."""

    TERMINAL = "terminal"
    """The investigation has ended by itself, with a report."""
    STRUCTURE = "structure"
    """The record is whole and in order."""
    AUDIT = "audit"
    """Nothing happened on the way that must not."""
    CITATIONS = "citations"
    """What the report cites was observed before, word for word, and may be cited."""
    GOLD = "gold"
    """The case has a private record."""
    VERDICT = "verdict"
    """The verdict is the private record's, whatever a judge says."""
    JUDGE = "judge"
    """A judge finds that the evidence carries the verdict."""


def attempt_name(attempt: int) -> str:
    """What a phase is called in folders and tables, from 1: `attempt-01`."""
    return f"attempt-{attempt:02d}"


class PhaseCounts(Record):
    """What became of the episodes of one phase."""

    targets: int
    """Cases that it was to investigate, whatever came of it."""
    collected: int
    """Episodes; admitted and rejected ones."""
    rejected: dict[str, int]
    """By the first gate that was not passed, and what was wrong: `judge:poor_retrieval`."""
    admitted: int
    """Episodes that passed every gate; kept and surplus ones."""
    surplus: int
    """Those of a case that has better ones, as many as are kept."""
    kept: int
    """Those that are learned from."""
    covered: int
    """Targets with an admitted episode."""

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.collected != self.admitted + sum(self.rejected.values()) or self.admitted != self.kept + self.surplus:
            raise ValueError("a funnel must add up: collected = admitted + rejected, admitted = kept + surplus")
        return self

    def rejected_at(self, gate: Gate) -> int:
        """Episodes that failed a gate first."""
        return sum(count for reason, count in self.rejected.items() if reason.partition(":")[0] == gate.value)


class AdmissionFunnel(Record):
    """Collected, rejected at each gate, admitted, kept: by phase and in total. Use `funnel_of`."""

    phases: dict[str, PhaseCounts]
    """By `attempt_name`, in order."""
    total: PhaseCounts

    @property
    def columns(self) -> tuple[str, ...]:
        """Titles of the counts."""
        return (*self.phases, "all")

    def rows(self) -> list[FunnelRow]:
        """The table, from investigated cases to covered ones; every gate has a line, what was wrong one below it."""
        return [
            self._row("cases to investigate", "targets"),
            self._row("collected", "collected"),
            *(row for gate in Gate for row in self._gate(gate)),
            self._row("admitted", "admitted"),
            self._row("surplus", "surplus", detail=True),
            self._row("kept", "kept", detail=True),
            self._row("cases with an admitted episode", "covered"),
        ]

    def table(self) -> list[dict[str, str | int]]:
        """The same as one mapping a line, for viewers of tables."""
        lines: list[dict[str, str | int]] = []
        for row in self.rows():
            title = f"- {row.title}" if row.detail else row.title
            lines.append({"episodes": title, **dict(zip(self.columns, row.counts, strict=True))})
        return lines

    def markdown(self) -> str:
        """The table in Markdown."""
        return markdown_table(self.columns, self.rows())

    @property
    def _counts(self) -> list[PhaseCounts]:
        return [*self.phases.values(), self.total]

    def _row(self, title: str, field: str, *, detail: bool = False) -> FunnelRow:
        return FunnelRow(title, tuple(getattr(item, field) for item in self._counts), detail)

    def _gate(self, gate: Gate) -> list[FunnelRow]:
        reasons = [reason for reason in self.total.rejected if reason.partition(":")[0] == gate.value]
        lines = [
            FunnelRow(_words(reason), tuple(item.rejected.get(reason, 0) for item in self._counts), detail=True)
            for reason in reasons
        ]
        return [FunnelRow(f"rejected: {gate.value}", tuple(item.rejected_at(gate) for item in self._counts)), *lines]


def funnel_of(phases: Mapping[str, PhaseCounts]) -> AdmissionFunnel:
    """The funnel of one phase or several, of which each investigates cases that those before it did not cover."""
    return AdmissionFunnel(phases=dict(phases), total=_summed(list(phases.values())))


def _summed(phases: Sequence[PhaseCounts]) -> PhaseCounts:
    reasons = sorted({reason for item in phases for reason in item.rejected})
    return PhaseCounts(
        # Later phases take up cases of the first.
        targets=phases[0].targets if phases else 0,
        collected=sum(item.collected for item in phases),
        rejected={reason: sum(item.rejected.get(reason, 0) for item in phases) for reason in reasons},
        admitted=sum(item.admitted for item in phases),
        surplus=sum(item.surplus for item in phases),
        kept=sum(item.kept for item in phases),
        covered=sum(item.covered for item in phases),
    )


def _words(reason: str) -> str:
    return reason.partition(":")[2].replace("_", " ")
