"""Stage `review`: which teacher episodes are learned from, and which of their turns.

The gates are EviScene's (`admission.py`), and private records are opened when every case has been investigated. Turns
that led nowhere stay in an admitted episode as context and are masked: nobody should learn to repeat them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from components.config.paths import Paths
from components.config.schema import Params
from components.errors import EviflowError
from components.evaluation.admission import Decision, Selection, Standards, counted, select
from components.evaluation.gold import load_gold
from components.evaluation.summary import error_type
from components.records.admission import AdmissionFunnel, attempt_name, funnel_of
from components.records.admitted import ADMITTED, later_phases
from components.records.base import Record
from components.records.case import Gold, Split
from components.records.episode import Episode
from components.records.shards import read_episodes, write_episodes
from components.rollout.cases import load_cases
from components.storage.atomic import read_jsonl, replace_folder, write_json, write_jsonl
from components.tools.source_policy import policy_of

DECISIONS = "decisions.jsonl"
"""The decisions on a phase's episodes, rejected ones with their reasons."""


class Yield(Record):
    """What one kind of case yields."""

    cases: int
    episodes: int
    admitted: int
    """Those that are learned from."""
    cases_covered: int
    """Cases with at least one admitted episode."""


class ReviewSummary(Record):
    """The funnel from collected to admitted episodes."""

    collected: int
    admitted: int
    """Episodes that passed every gate."""
    kept: int
    """Those of them that are learned from."""
    funnel: AdmissionFunnel
    """The same with each gate's rejections."""
    steps: int
    """Turns of episodes that are learned from."""
    masked_steps: int
    """Those of them that are not learned from themselves."""
    warnings: dict[str, int]
    """What was noted and kept no episode out, in all of them."""
    by_error_type: dict[str, Yield]
    """`supported` stands for the faithful pictures."""


def review_episodes(params: Params, paths: Paths) -> ReviewSummary:
    """Review `data/episodes`; write `data/reviewed` and `reports/data/review.json`.

    Raises:
        EviflowError: the episodes are not there, a case was not investigated, or no episode is admitted.

    """
    episodes = collected_episodes(paths)
    targets = [case.case_id for case in load_cases(paths, Split.TRAIN)]
    selection, gold = review_phase(params, paths, episodes, targets, 1)
    counts = counted(selection.decisions, targets)
    summary = ReviewSummary(
        collected=counts.collected,
        admitted=counts.admitted,
        kept=counts.kept,
        funnel=funnel_of({attempt_name(1): counts}),
        steps=sum(len(episode.steps) for episode in selection.kept),
        masked_steps=sum(step.masked for episode in selection.kept for step in episode.steps),
        warnings=_counted(item.reason for decision in selection.decisions for item in decision.warnings),
        by_error_type=_yields(targets, selection.decisions, gold),
    )
    write_json(paths.metrics / "review.json", summary)
    if not selection.kept:
        raise EviflowError(f"no teacher episode was admitted; {paths.metrics / 'review.json'} counts the reasons")
    with replace_folder(paths.reviewed) as staging:
        write_episodes(staging / ADMITTED, selection.kept)
        write_jsonl(staging / DECISIONS, selection.decisions)
    return summary


def review_phase(
    params: Params, paths: Paths, episodes: Sequence[Episode], targets: Sequence[str], attempt: int
) -> tuple[Selection, dict[str, Gold]]:
    """Decide on the episodes of a phase that has ended, and open the private records for it.

    Args:
        params: `review` is used.
        paths: the checkout.
        episodes: everything that the phase collected.
        targets: ids of the cases that it was to investigate.
        attempt: which phase it is, from 1.

    Raises:
        EviflowError: the phase has not ended, since a case has no episode, however it went; or there are no records.

    """
    missing = sorted(set(targets) - {episode.case.case_id for episode in episodes})
    if missing:
        raise EviflowError(
            f"{len(missing)} of {len(targets)} cases of {attempt_name(attempt)} have no episode, first {missing[0]}; "
            "run `eviflow stage episodes` to its end before they are reviewed"
        )
    gold = load_gold(paths, Split.TRAIN)
    return select(episodes, Standards(gold, policy_of(paths), params.review.per_case), attempt), gold


def collected_episodes(paths: Paths) -> list[Episode]:
    """What stage `episodes` collected.

    Raises:
        EviflowError: it is not there.

    """
    if not any(paths.episodes.glob("episodes*.parquet")):
        raise EviflowError(f"{paths.episodes} holds no episodes; run `eviflow stage episodes` or `dvc checkout`")
    return read_episodes(paths.episodes)


def every_episode(paths: Paths) -> list[Episode]:
    """What stage `episodes` collected, then what each re-roll did; raises EviflowError when the first is not there."""
    return [*collected_episodes(paths), *(item for folder in later_phases(paths) for item in read_episodes(folder))]


def read_decisions(folder: Path) -> list[Decision]:
    """The decisions on a phase's episodes; raises EviflowError when there are none."""
    path = folder / DECISIONS
    if not path.exists():
        raise EviflowError(f"{path} is not there; run `eviflow stage review` or `dvc checkout`")
    return read_jsonl(path, Decision)


def read_funnel(report: Path) -> AdmissionFunnel:
    """The funnel in a stage's report; raises EviflowError when there is none."""
    if not report.exists():
        raise EviflowError(f"{report} is not there; run `eviflow stage {report.stem}` or `eviflow run`")
    return _Report.model_validate_json(report.read_bytes()).funnel


class _Report(Record, extra="ignore"):
    funnel: AdmissionFunnel


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _yields(targets: Sequence[str], decisions: Sequence[Decision], gold: Mapping[str, Gold]) -> dict[str, Yield]:
    kinds = {case_id: error_type(gold[case_id]) for case_id in targets if case_id in gold}
    known = [decision for decision in decisions if decision.case_id in kinds]
    cases = Counter(kinds.values())
    collected = Counter(kinds[decision.case_id] for decision in known)
    kept = Counter(kinds[decision.case_id] for decision in known if decision.kept)
    covered = Counter(kinds[case_id] for case_id in {decision.case_id for decision in known if decision.kept})
    return {
        kind: Yield(cases=cases[kind], episodes=collected[kind], admitted=kept[kind], cases_covered=covered[kind])
        for kind in sorted(cases)
    }
