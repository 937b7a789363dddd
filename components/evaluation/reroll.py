"""Stage `reroll`: cases without an admitted episode are investigated again, phase by phase, up to a bound.

A phase is collected to its end with seeds of its own before private records are opened, and what it has collected
never changes again. A case that has an admitted episode is never run again; what is left at the bound is listed with
its reasons, failures of the run apart from those of the investigations.

    eviflow stage reroll
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from components.config.paths import Paths
from components.config.schema import Params
from components.evaluation.admission import Decision, counted
from components.evaluation.review import DECISIONS, read_decisions, review_phase
from components.records.admission import AdmissionFunnel, PhaseCounts, attempt_name, funnel_of
from components.records.admitted import ADMITTED
from components.records.base import Record
from components.records.case import Case, Split
from components.records.episode import Episode
from components.records.shards import read_episodes, write_episodes
from components.rollout.cases import load_cases
from components.rollout.spending import read_spent
from components.rollout.teacher import EpisodesSummary, Phase, collect_phase, phase_seeds, teacher_work
from components.storage.atomic import replace_folder, write_json, write_jsonl

UNRESOLVED = "unresolved.jsonl"
"""In `data/rerolled`: the cases that have no admitted episode still."""


class Kind(StrEnum):
    """What a case failed for in every attempt, or in the one that came furthest."""

    ENGINEERING = "engineering"
    """No run came to a report whose record is whole: it may work another time."""
    QUALITY = "quality"
    """There were reports, and none was good enough."""


class Reason(Record):
    """Why one episode was not admitted."""

    attempt: int
    episode_id: str
    outcome: str
    """As in its `Decision`."""


class Unresolved(Record):
    """A case without an admitted episode at the bound."""

    case_id: str
    kind: Kind
    reasons: tuple[Reason, ...]


class RerollSummary(Record):
    """What the re-rolls came to."""

    funnel: AdmissionFunnel
    """The first phase, and every later one."""
    targets: int
    """Cases that the first phase gave no admitted episode."""
    collected: int
    """Episodes of later phases."""
    resolved: int
    """Cases that a re-roll gave an admitted episode."""
    unresolved: dict[Kind, int]
    requests: int
    """What the later phases' episodes ask services."""
    list_usd: float
    spent_usd: float


class _Collected(NamedTuple):
    """One later phase."""

    decisions: list[Decision]
    kept: list[Episode]
    counts: PhaseCounts
    cost: EpisodesSummary


def reroll_cases(params: Params, paths: Paths) -> RerollSummary:
    """Investigate again what review has left; write `data/rerolled` and `reports/data/reroll.json`.

    A run that was ended goes on where it stopped, and one with more phases, or other gates, runs only what is new.

    Raises:
        BudgetReached: `budget`, which stage `episodes` has already spent from, ended it; a larger one goes on.
        EviflowError: the first phase was not reviewed, or the benchmark is not there.

    """
    cases = load_cases(paths, Split.TRAIN)
    first = read_decisions(paths.reviewed)
    # Gates that are changed, and further phases, find there what was collected: no investigation is paid twice.
    with teacher_work(params, paths, "reroll", keep=True) as work, replace_folder(paths.rerolled) as staging:
        later = list(_phases(params, paths, _open(cases, first), staging, work))
        decisions = [*first, *(item for phase in later for item in phase.decisions)]
        unresolved = _unresolved(_open(cases, decisions), decisions)
        write_episodes(staging / ADMITTED, [episode for phase in later for episode in phase.kept])
        write_jsonl(staging / UNRESOLVED, unresolved)
        summary = _summary(counted(first, [case.case_id for case in cases]), later, unresolved)
        write_json(paths.metrics / "reroll.json", summary)
    return summary


def _phases(params: Params, paths: Paths, targets: Sequence[Case], staging: Path, work: Path) -> Iterator[_Collected]:
    """The later phases one after another, each over what those before it have left."""
    spent = read_spent(paths.episodes)
    for attempt in range(2, 2 + params.reroll.attempts):
        if not targets:
            return
        name = attempt_name(attempt)
        seeds = phase_seeds(params.episodes, attempt)
        phase = Phase(targets, seeds, staging / name, f"re-roll, {name}", before=spent)
        cost = collect_phase(params, paths, phase, work / name)
        collected = _review(params, paths, phase, attempt, cost)
        yield collected
        spent += read_spent(phase.target)
        targets = _open(targets, collected.decisions)


def _review(params: Params, paths: Paths, phase: Phase, attempt: int, cost: EpisodesSummary) -> _Collected:
    """Review a phase whose episodes are all there; the only place here where private records are opened."""
    targets = [case.case_id for case in phase.cases]
    selection, _ = review_phase(params, paths, read_episodes(phase.target), targets, attempt)
    write_jsonl(phase.target / DECISIONS, selection.decisions)
    return _Collected(selection.decisions, selection.kept, counted(selection.decisions, targets), cost)


def _open(cases: Sequence[Case], decisions: Sequence[Decision]) -> list[Case]:
    """The cases without an admitted episode."""
    done = {item.case_id for item in decisions if item.admitted}
    return [case for case in cases if case.case_id not in done]


def _unresolved(cases: Sequence[Case], decisions: Sequence[Decision]) -> list[Unresolved]:
    by_case: dict[str, list[Decision]] = defaultdict(list)
    for item in decisions:
        by_case[item.case_id].append(item)
    return [_left(case.case_id, by_case[case.case_id]) for case in cases]


def _left(case_id: str, own: Sequence[Decision]) -> Unresolved:
    return Unresolved(
        case_id=case_id,
        kind=Kind.ENGINEERING if all(item.engineering for item in own) else Kind.QUALITY,
        reasons=tuple(Reason(attempt=i.attempt, episode_id=i.episode_id, outcome=i.outcome) for i in own),
    )


def _summary(first: PhaseCounts, later: Sequence[_Collected], unresolved: Sequence[Unresolved]) -> RerollSummary:
    phases = {attempt_name(number): counts for number, counts in enumerate([first, *(p.counts for p in later)], 1)}
    return RerollSummary(
        funnel=funnel_of(phases),
        targets=first.targets - first.covered,
        collected=sum(phase.counts.collected for phase in later),
        resolved=sum(phase.counts.covered for phase in later),
        unresolved={kind: sum(item.kind is kind for item in unresolved) for kind in Kind},
        requests=sum(phase.cost.requests for phase in later),
        list_usd=sum(phase.cost.list_usd for phase in later),
        spent_usd=sum(phase.cost.spent_usd for phase in later),
    )
