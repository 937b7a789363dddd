"""Making EviLens-F: drawing planned cases, screening them, counting what became of them, and of what was collected."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.agreement import objection
from components.curation.plan import CasePlan
from components.curation.prepare import Prepared
from components.curation.readahead import Drawn, drawing_ahead
from components.curation.render import Candidate, as_posted, gold_record
from components.curation.screen import Reason, Screen
from components.errors import EviflowError
from components.progress import track
from components.records.case import Case, ErrorType, Gold, Route, Split, Verdict
from components.records.funnel import Screening
from components.records.image_bank import asset_path
from components.records.image_writer import ImageWriter
from components.world.entities import Facts


class RouteCounts(BaseModel):
    """What was acquired in one way."""

    supported: int
    refuted: dict[ErrorType, int]


class SplitCounts(BaseModel):
    """What one split holds."""

    cases: int
    supported: int
    refuted: dict[ErrorType, int]
    untitled: int
    styles: dict[str, int]
    routes: dict[Route, RouteCounts]


@dataclass
class Tally:
    """What became of the planned cases of a split so far."""

    planned: int = 0
    drawn: int = 0
    redrawn: int = 0
    reasons: Counter[Reason] = field(default_factory=Counter)


@dataclass
class Screened:
    """Taken cases with their gold records, and the funnel."""

    cases: list[Case] = field(default_factory=list)
    golds: list[Gold] = field(default_factory=list)
    untitled: Counter[Split] = field(default_factory=Counter)
    tallies: dict[Split, Tally] = field(default_factory=lambda: {split: Tally() for split in Split})

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
            routes={route: _counted([gold for gold in golds if gold.route == route]) for route in Route},
        )

    def screening(self, *splits: Split) -> Screening:
        """The funnel of some splits; of all without any."""
        tallies = [self.tallies[split] for split in splits or Split]
        planned, drawn = sum(tally.planned for tally in tallies), sum(tally.drawn for tally in tallies)
        kept = sum(len(self.of(split)[0]) for split in splits or Split)
        reasons = sum((tally.reasons for tally in tallies), Counter[Reason]())
        return Screening(
            planned=planned,
            drawn=drawn,
            rejected=drawn - kept,
            reasons={reason.value: count for reason, count in sorted(reasons.items())},
            redrawn=sum(tally.redrawn for tally in tallies),
            dropped=planned - kept,
            kept=kept,
        )


def make_cases(prepared: Prepared, params: Params, paths: Paths, screen: Screen, bank: ImageWriter) -> Screened:
    """Draw and screen every planned case; pictures of those that are taken go into `bank`.

    A case whose record the curation agent did not find, or read otherwise than it is, is dropped undrawn. What was
    collected has been screened already.
    """
    facts, result = prepared.facts, Screened()
    _count_rejected(prepared, result)
    plans = [plan for plan in prepared.plans if _documented(plan, prepared, result.tallies[plan.event.split])]
    with drawing_ahead([plan for plan in plans if not plan.found], facts, params, paths) as ready:
        for plan in track(plans, "drawing and screening", len(plans), "cases"):
            tally = result.tallies[plan.event.split]
            if plan.found:
                candidate: Candidate | None = _collected(plan, prepared, params, tally)
            else:
                candidate = _first_taken(next(ready)[1], screen, tally)
            if candidate is not None:
                digest = bank.put(candidate.data)
                result.cases.append(Case(case_id=plan.case_id, image_path=asset_path(digest), image_sha256=digest))
                result.golds.append(gold_record(candidate, prepared.research))
                result.untitled[plan.event.split] += not plan.titled
    return result


def _counted(golds: list[Gold]) -> RouteCounts:
    return RouteCounts(
        supported=sum(gold.factual_status is Verdict.SUPPORTED for gold in golds),
        refuted={kind: sum(gold.error_type is kind for gold in golds) for kind in ErrorType},
    )


def _count_rejected(prepared: Prepared, result: Screened) -> None:
    """Posted pictures that cannot become cases count like drawings that are rejected."""
    for split, rejected in prepared.collection.rejected.items():
        result.tallies[split].drawn += len(rejected)
        result.tallies[split].reasons.update(reason for reasons in rejected for reason in reasons)


def _collected(plan: CasePlan, prepared: Prepared, params: Params, tally: Tally) -> Candidate:
    web, found = prepared.collection.web, plan.found
    assert web is not None, "what is planned as collected was offered"
    assert found is not None, "only such plans come here"
    tally.drawn += 1
    truth = prepared.facts.post[found.post.page_url]
    return as_posted(plan, truth, web.read(found.post.sha256), prepared.facts, params.world)


def _documented(plan: CasePlan, prepared: Prepared, tally: Tally) -> bool:
    tally.planned += 1
    reason = objection(plan, prepared.facts, prepared.research)
    if reason is not None:
        tally.reasons[reason] += 1
    return reason is None


def _first_taken(attempts: Iterator[Drawn], screen: Screen, tally: Tally) -> Candidate | None:
    for attempt, (candidate, view) in enumerate(attempts):
        tally.drawn += 1
        reasons = screen.reasons(candidate, view)
        if not reasons:
            tally.redrawn += attempt > 0
            return candidate
        tally.reasons.update(reasons)
    return None


def read_facts(path: Path) -> Facts:
    """What is true in the world; raises EviflowError when the world is not built."""
    if not path.exists():
        raise EviflowError(f"{path} is missing; build the world with `eviflow stage world` or run `dvc checkout`")
    return Facts.model_validate_json(path.read_text("utf-8"))
