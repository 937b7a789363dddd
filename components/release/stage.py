"""Stage `panel`: two reviewers and a third decide on each candidate, and what they take is released as EviLens-F."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from components.config.paths import SOURCE_ACCESS, Paths
from components.config.schema import PanelParams, Params
from components.curation.transfer.released import published_row
from components.errors import EviflowError, UsageError
from components.records.case import Case, ExpertReview, Gold, Split
from components.records.funnel import Funnel, Screening
from components.records.image_bank import ImageBank
from components.records.image_writer import new_shards
from components.records.source_access import excluding
from components.release.report import (
    PanelReport,
    choices_of,
    counted_decisions,
    edited_fields,
    mistakes_of,
    reasons_of,
    reviewed_of,
)
from components.review.candidates import load_candidates
from components.review.decisions import Choice, DecisionInvalid, Queue
from components.review.desk import Desk, check_allowed
from components.review.fields import edited
from components.review.items import CaseItem, case_items
from components.review.panel import load_panel, review_folder
from components.review.rules import Outcome, Standing
from components.review.scripted import PANEL, review_all, right_case
from components.review.status import ReviewStatus, review_status
from components.storage.atomic import replace_folder, write_json, write_jsonl, write_text

COMMAND = "`eviflow data review --reviewers ada,ben --adjudicator eve`"


class ReleasedCase(NamedTuple):
    """A case that reviewers took, with its record as they left it."""

    split: Split
    case: Case
    gold: Gold


def release_candidates(params: Params, paths: Paths) -> PanelReport:
    """Review the candidates; write the released cases and records, metadata for publication, decisions and counts.

    Equal candidates and decisions give equal bytes. The folders appear whole or not at all. Scripted reviewers decide
    here and now, from a seed; people have decided before, upon the candidates as they are.

    Raises:
        UsageError: people are to decide, and have not yet decided on every candidate.
        EviflowError: the candidates are not there, no case of a split was taken, or a decision makes no sense.

    """
    items = case_items(paths)
    desk = _scripted(params.panel, items) if params.panel.reviewers == "scripted" else _people(paths, items)
    status = review_status(Queue.CASES, desk)
    _check_settled(status)
    released = list(_released(paths, desk))
    _check_splits(released)
    report = _report(paths, desk, items, status)
    with (
        replace_folder(paths.benchmark) as public,
        replace_folder(paths.gold) as private,
        replace_folder(paths.release) as release,
    ):
        _write_cases(paths, released, public, private)
        write_json(public / SOURCE_ACCESS, excluding(item.gold for item in released))
        rows = [published_row(item.case, item.gold, item.split) for item in released]
        write_text(release / "metadata.jsonl", "".join(f"{row}\n" for row in rows))
        write_jsonl(release / "decisions.jsonl", counted_decisions(desk))
    write_json(paths.metrics / "panel.json", report)
    return report


def read_report(paths: Paths) -> PanelReport:
    """The numbers of the last release; raises EviflowError when there is none."""
    path = paths.metrics / "panel.json"
    if not path.exists():
        raise EviflowError(f"{path} is not there; run `eviflow stage panel` or `eviflow run`")
    return PanelReport.model_validate_json(path.read_bytes())


def _scripted(params: PanelParams, items: Sequence[CaseItem]) -> Desk:
    desk = Desk(PANEL, items, None, clock=lambda: "")
    review_all(desk, {item.item_id: right_case(item) for item in items}, params.seed)
    return desk


def _people(paths: Paths, items: Sequence[CaseItem]) -> Desk:
    panel = load_panel(paths, Queue.CASES)
    if panel is None or panel.scripted:
        raise UsageError(
            f"all {len(items)} candidates are undecided: panel.reviewers is `people`, and nobody has reviewed yet; "
            f"start with {COMMAND}"
        )
    return Desk(panel, items, review_folder(paths, Queue.CASES))


def _check_settled(status: ReviewStatus) -> None:
    undecided = status.open + status.waiting
    if undecided:
        stale = sum(status.stale.values())
        changed = f", and {stale} decisions are on candidates that have changed since" if stale else ""
        raise UsageError(
            f"{undecided} of {status.items} candidates are undecided ({status.open} wait for a reviewer, "
            f"{status.waiting} for {status.adjudicator}{changed}); go on with `eviflow data review`"
        )


def _check_splits(released: Sequence[ReleasedCase]) -> None:
    for split in Split:
        if not any(item.split is split for item in released):
            raise EviflowError(f"no {split.value} candidate was taken by the reviewers; there is nothing to release")


def _released(paths: Paths, desk: Desk) -> Iterator[ReleasedCase]:
    outcomes = {item.item_id: item for item in desk.outcomes()}
    for split in Split:
        for case, gold in load_candidates(paths, split):
            found, shown = outcomes[case.case_id], desk.items[case.case_id]
            assert isinstance(shown, CaseItem), "the queue of cases holds cases"
            if found.choice is not Choice.REJECT:
                yield ReleasedCase(split, case, _record(gold, shown, found))


def _record(gold: Gold, shown: CaseItem, found: Outcome) -> Gold:
    """The gold record as the reviewers left it. Ledgers are files: what they say is checked once more."""
    assert found.choice is not None, "every candidate is settled"
    try:
        check_allowed(shown, found.choice, found.edits)
    except DecisionInvalid as error:
        raise EviflowError(f"the decision on {gold.case_id} makes no sense ({error}); decide on it again") from None
    review = ExpertReview(
        scripted=found.scripted,
        adjudicated=found.standing is Standing.ADJUDICATED,
        edited=tuple(sorted(found.edits)),
    )
    return edited(gold, shown.explanation, found.edits).model_copy(update={"review": review})


def _write_cases(paths: Paths, released: Sequence[ReleasedCase], public: Path, private: Path) -> None:
    candidates = ImageBank(paths.candidates)
    with new_shards(public) as bank:
        for item in released:
            bank.put(candidates.read(item.case.image_sha256))
    for split in Split:
        chosen = [item for item in released if item.split is split]
        write_jsonl(public / f"{split.value}.jsonl", [item.case for item in chosen])
        write_jsonl(private / f"{split.value}.jsonl", [item.gold for item in chosen])


def _report(paths: Paths, desk: Desk, items: Sequence[CaseItem], status: ReviewStatus) -> PanelReport:
    outcomes = desk.outcomes()
    split_of = {case.case_id: split for split in Split for case, _ in load_candidates(paths, split)}
    rights = {item.item_id: right_case(item) for item in items}
    return PanelReport(
        decided_by="scripted" if desk.panel.scripted else "people",
        status=status,
        decisions=choices_of(desk),
        rejected=reasons_of(desk, outcomes),
        edited_fields=edited_fields(outcomes),
        mistakes=mistakes_of(rights, outcomes) if desk.panel.scripted else None,
        funnel=Funnel(screening=_screening(paths), reviewed=reviewed_of(split_of, outcomes)),
    )


def _screening(paths: Paths) -> dict[Split, Screening]:
    """The first half of the funnel, as stage `benchmark` has counted it."""
    path = paths.metrics / "benchmark.json"
    if not path.exists():
        raise EviflowError(f"{path} is not there; run `eviflow stage benchmark` or check it out from git")
    counted = json.loads(path.read_text("utf-8"))["screening_by_split"]
    return {split: Screening.model_validate(counted[split.value]) for split in Split}
