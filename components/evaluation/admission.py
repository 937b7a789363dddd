"""Admission: every gate in order, a decision for each episode, and which of those that pass are kept.

Nothing is dropped in silence: an episode that is not kept has a decision that says why, with all that was found.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from components.evaluation.assessment import Assessment
from components.evaluation.audit import audit
from components.evaluation.citations import citations
from components.evaluation.findings import Fatal, Finding
from components.evaluation.judged import judged
from components.evaluation.masking import masked
from components.evaluation.rules_assessor import assess
from components.evaluation.structure import structure, terminal
from components.records.admission import Gate, PhaseCounts
from components.records.base import Record
from components.records.case import Gold
from components.records.episode import Episode
from components.tools.source_policy import SourcePolicy

KEPT, SURPLUS = "kept", "surplus"
_ENGINEERING = (f"{Gate.STRUCTURE}:", f"{Gate.AUDIT}:{Fatal.ENGINEERING}")

Assessor = Callable[[Episode, Gold], Assessment]
"""Whoever judges an episode that has passed the first gates."""


class Decision(Record):
    """What became of one episode."""

    episode_id: str
    case_id: str
    attempt: int
    """The phase that it was collected in, from 1."""
    outcome: str
    """`kept`; `surplus`, when the case has better ones, as many as are kept; else the first gate that it failed, with
    what was wrong: `judge:poor_retrieval`."""
    engineering: bool = False
    """Whether the run failed and not the investigation: there is no report, or the record is broken."""
    fatal: tuple[Finding, ...] = ()
    """Everything that keeps it out, in the order of the gates."""
    warnings: tuple[Finding, ...] = ()
    assessment: Assessment | None = None
    """None where a gate before the judge's leaves nothing to judge."""

    @property
    def admitted(self) -> bool:
        """Whether it has passed every gate."""
        return self.outcome in (KEPT, SURPLUS)

    @property
    def kept(self) -> bool:
        """Whether it is learned from."""
        return self.outcome == KEPT


class Standards(NamedTuple):
    """What episodes are measured by."""

    gold: Mapping[str, Gold]
    """By case id."""
    sources: SourcePolicy
    per_case: int = 1
    """Episodes kept for each case."""
    assess: Assessor = assess


class Selection(NamedTuple):
    """The decisions on a phase's episodes."""

    decisions: list[Decision]
    """One for each, in their order."""
    kept: list[Episode]
    """Those that are learned from, masked, in the same order."""


def select(episodes: Sequence[Episode], standards: Standards, attempt: int = 1) -> Selection:
    """Decide on every episode of a phase, and keep the cleanest and then the shortest of each case."""
    decisions = [decide(episode, standards, attempt) for episode in episodes]
    passed: dict[str, list[Episode]] = defaultdict(list)
    for episode, decision in zip(episodes, decisions, strict=True):
        if decision.admitted:
            passed[decision.case_id].append(masked(episode))
    best = [sorted(found, key=_cost)[: standards.per_case] for found in passed.values()]
    kept = {episode.episode_id: episode for found in best for episode in found}
    return Selection(
        [item if item.episode_id in kept or not item.admitted else _surplus(item) for item in decisions],
        [kept[episode.episode_id] for episode in episodes if episode.episode_id in kept],
    )


def decide(episode: Episode, standards: Standards, attempt: int = 1) -> Decision:
    """Take one episode through every gate."""
    found, assessment = _examine(episode, standards)
    order = list(Gate)
    fatal = sorted((item for item in found if item.fatal), key=lambda item: order.index(item.gate))
    return Decision(
        episode_id=episode.episode_id,
        case_id=episode.case.case_id,
        attempt=attempt,
        outcome=fatal[0].reason if fatal else KEPT,
        engineering=bool(fatal) and (episode.report is None or fatal[0].reason.startswith(_ENGINEERING)),
        fatal=tuple(fatal),
        warnings=tuple(item for item in found if not item.fatal),
        assessment=assessment,
    )


def counted(decisions: Sequence[Decision], targets: Sequence[str]) -> PhaseCounts:
    """The funnel of a phase over the cases that it was to investigate, no more and no fewer.

    Raises:
        ValueError: a decision is about another case.

    """
    wanted = set(targets)
    if strangers := {item.case_id for item in decisions} - wanted:
        raise ValueError(f"{min(strangers)} is none of the {len(wanted)} cases of the phase")
    rejected = Counter(item.outcome for item in decisions if not item.admitted)
    return PhaseCounts(
        targets=len(wanted),
        collected=len(decisions),
        rejected=dict(sorted(rejected.items())),
        admitted=sum(item.admitted for item in decisions),
        surplus=sum(item.outcome == SURPLUS for item in decisions),
        kept=sum(item.kept for item in decisions),
        covered=len({item.case_id for item in decisions if item.admitted}),
    )


def _examine(episode: Episode, standards: Standards) -> tuple[list[Finding], Assessment | None]:
    """All findings; a gate that builds on an earlier one is left out where that one has failed."""
    found = [*terminal(episode), *structure(episode)]
    if any(item.gate is Gate.STRUCTURE for item in found):
        return found, None
    found += audit(episode, standards.sources)
    if episode.report is None:
        return found, None
    found += citations(masked(episode))
    gold = standards.gold.get(episode.case.case_id)
    if gold is None:
        return [*found, _missing(Gate.GOLD, "no_gold", "The case has no private record.")], None
    if episode.report.verdict is not gold.factual_status:
        told = f"The verdict is {episode.report.verdict.value}; the record says {gold.factual_status.value}."
        found.append(_missing(Gate.VERDICT, "wrong_verdict", told))
    assessment = standards.assess(episode, gold)
    return [*found, *judged(assessment, episode, gold)], assessment


def _missing(gate: Gate, code: str, sentence: str) -> Finding:
    return Finding(gate=gate, code=code, fatal=True, sentence=sentence)


def _surplus(decision: Decision) -> Decision:
    return decision.model_copy(update={"outcome": SURPLUS})


def _cost(episode: Episode) -> tuple[int, int, int]:
    return sum(step.masked for step in episode.steps), len(episode.steps), episode.seed
