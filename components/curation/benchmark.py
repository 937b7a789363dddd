"""Making EviLens-F: drawing planned cases, screening them, counting what became of them."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from components.config.schema import Params
from components.curation.agreement import objection
from components.curation.plan import CasePlan
from components.curation.prepare import Prepared
from components.curation.readahead import reading_ahead
from components.curation.render import Candidate, gold_record, render
from components.curation.screen import Reason, Screen
from components.errors import EviflowError
from components.progress import track
from components.records.case import Case, ErrorType, Gold, Split, Verdict
from components.records.image_bank import ImageBank, asset_path
from components.world.entities import Facts

ATTEMPTS = 4
"""How often a case is drawn before it is dropped."""


class SplitCounts(BaseModel):
    """What one split holds."""

    cases: int
    supported: int
    refuted: dict[ErrorType, int]
    untitled: int
    styles: dict[str, int]


class Screening(BaseModel):
    """What became of candidates. drawn = kept + rejected; planned = kept + dropped."""

    planned: int
    drawn: int
    rejected: int
    reasons: dict[Reason, int]
    """Why candidates were rejected, which may have several reasons, and why cases were dropped undrawn."""
    redrawn: int
    """Cases that were kept after a rejection."""
    dropped: int
    """Cases of which no drawing was taken, or none was made."""
    kept: int


@dataclass
class Screened:
    """Taken cases with their gold records, and the funnel."""

    cases: list[Case] = field(default_factory=list)
    golds: list[Gold] = field(default_factory=list)
    untitled: Counter[Split] = field(default_factory=Counter)
    reasons: Counter[Reason] = field(default_factory=Counter)
    planned: int = 0
    drawn: int = 0
    redrawn: int = 0

    def of(self, split: Split) -> tuple[list[Case], list[Gold]]:
        """The cases and gold records of one split."""
        return (
            [case for case in self.cases if case.case_id.startswith(split.value)],
            [gold for gold in self.golds if gold.case_id.startswith(split.value)],
        )

    def counts(self, split: Split) -> SplitCounts:
        """What one split holds."""
        golds = self.of(split)[1]
        return SplitCounts(
            cases=len(golds),
            supported=sum(gold.factual_status is Verdict.SUPPORTED for gold in golds),
            refuted={kind: sum(gold.error_type is kind for gold in golds) for kind in ErrorType},
            untitled=self.untitled[split],
            styles=dict(sorted(Counter(gold.style for gold in golds).items())),
        )

    def screening(self) -> Screening:
        """The funnel."""
        kept = len(self.cases)
        return Screening(
            planned=self.planned,
            drawn=self.drawn,
            rejected=self.drawn - kept,
            reasons=dict(sorted(self.reasons.items())),
            redrawn=self.redrawn,
            dropped=self.planned - kept,
            kept=kept,
        )


def make_cases(prepared: Prepared, params: Params, screen: Screen, bank: ImageBank, cache: Path) -> Screened:
    """Draw and screen every planned case; pictures of those that are taken go into `bank`.

    A case whose record the curation agent did not find, or read otherwise than it is, is dropped undrawn.
    """
    facts = prepared.facts
    result = Screened(planned=len(prepared.plans))
    plans = [plan for plan in prepared.plans if _documented(plan, prepared, result)]
    with reading_ahead(plans, facts, params, cache) as ready:
        for plan in track(ready, "drawing and screening", len(plans), "cases"):
            candidate = _first_taken(plan, facts, params, screen, result)
            if candidate is not None:
                digest = bank.put(candidate.data)
                result.cases.append(Case(case_id=plan.case_id, image_path=asset_path(digest), image_sha256=digest))
                result.golds.append(gold_record(candidate, prepared.research))
                result.untitled[plan.event.split] += not plan.titled
    return result


def _documented(plan: CasePlan, prepared: Prepared, result: Screened) -> bool:
    reason = objection(plan, prepared.facts, prepared.research)
    if reason is not None:
        result.reasons[reason] += 1
    return reason is None


def _first_taken(plan: CasePlan, facts: Facts, params: Params, screen: Screen, result: Screened) -> Candidate | None:
    for attempt in range(ATTEMPTS):
        candidate = render(plan, attempt, facts, params.world)
        result.drawn += 1
        reasons = screen.reasons(candidate)
        if not reasons:
            result.redrawn += attempt > 0
            return candidate
        result.reasons.update(reasons)
    return None


def read_facts(path: Path) -> Facts:
    """What is true in the world; raises EviflowError when the world is not built."""
    if not path.exists():
        raise EviflowError(f"{path} is missing; build the world with `eviflow stage world` or run `dvc checkout`")
    return Facts.model_validate_json(path.read_text("utf-8"))
