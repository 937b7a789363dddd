"""Reviewers made of program, so that the chain runs without people; every record of theirs says so.

Each knows the right decision and errs at its own rate, at random but the same way each time. A case is right when its
label follows from its checks and its evidence stands on its pages; an episode is right when it passes the gates of
stage `review`. Their agreement measures these rates and nothing about the data.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from components.config.paths import Paths
from components.errors import UsageError
from components.evaluation.admission import Decision, Standards, decide
from components.evaluation.gold import load_gold
from components.evaluation.review import every_episode
from components.progress import track
from components.records.case import Split, Verdict
from components.review.decisions import Choice, Draft, Queue
from components.review.desk import Desk, Sight
from components.review.episode_items import EpisodeItem
from components.review.items import CaseItem, Item
from components.review.panel import Panel, Person, review_folder
from components.storage.ledger import Ledger
from components.tools.source_policy import policy_of

PANEL = Panel(reviewers=("scripted-one", "scripted-two"), adjudicator="scripted-three", scripted=True)
ERROR_RATES = {"scripted-one": 0.05, "scripted-two": 0.12, "scripted-three": 0.02}


class Right(NamedTuple):
    """The right decision on an item."""

    choice: Choice
    reason: str = ""
    """Why it has to be rejected."""
    step: int | None = None
    """Where it goes wrong."""


def check_nobody_reviewed(paths: Paths, queue: Queue, panel: Panel | None) -> None:
    """Make sure that programs do not take the place of people.

    Raises:
        UsageError: a panel of people has decided something.

    """
    if panel is None or panel.scripted:
        return
    folder = review_folder(paths, queue)
    counts = {person.name: len(Ledger(folder / f"{person.name}.jsonl").read()) for person in panel.people}
    if any(counts.values()):
        said = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise UsageError(
            f"people have decided here ({said}), and scripted reviewers stand in only where nobody has; "
            f"remove {folder / 'panel.json'} to let them"
        )


def review_all(desk: Desk, rights: Mapping[str, Right], seed: int) -> int:
    """Let the two decide on every item and the third on what they dispute.

    Items that one of them has decided already are left as they are, so a killed run goes on where it stopped.

    Returns:
        How many decisions were written.

    """
    written = 0
    for person in desk.panel.people:
        rows = [row for row in desk.queue(person) if row.choice is None]
        for row in track(rows, f"{person.name} ({person.role.value})", len(rows), "decisions"):
            rate = ERROR_RATES[person.name]
            draft = _draft(desk.view(person, row.item_id), rights[row.item_id], person, seed)
            desk.decide(person, row.item_id, draft, scripted=True, error_rate=rate)
            written += 1
    return written


def right_decisions(paths: Paths, queue: Queue, items: Sequence[Item]) -> dict[str, Right]:
    """The right decision on every item, from what is private."""
    if queue is Queue.CASES:
        return {item.item_id: right_case(item) for item in items if isinstance(item, CaseItem)}
    standards = Standards(load_gold(paths, Split.TRAIN), policy_of(paths))
    decisions = {episode.episode_id: decide(episode, standards) for episode in every_episode(paths)}
    return {
        item.item_id: _right_episode(item, decisions[item.item_id]) for item in items if isinstance(item, EpisodeItem)
    }


def right_case(item: CaseItem) -> Right:
    """Whether a case's record is in order in itself and stands on its pages."""
    if (item.label is Verdict.SUPPORTED) != all(check.holds for check in item.checks):
        return Right(Choice.REJECT, "the label does not follow from the checks")
    lost = next((source.url for source in item.sources for quote in source.quotes if not quote.found), None)
    return Right(Choice.REJECT, f"the evidence is not on {lost}") if lost else Right(Choice.ACCEPT)


def _right_episode(item: EpisodeItem, decision: Decision) -> Right:
    if decision.admitted:
        return Right(Choice.ACCEPT)
    failed = next((index for index, step in enumerate(item.steps) if step.failed), item.step_count - 1)
    return Right(Choice.REJECT, decision.outcome, failed)


def _draft(sight: Sight, right: Right, person: Person, seed: int) -> Draft:
    rng = random.Random(f"{seed}-{person.name}-{sight.item.item_id}")
    errs = rng.random() < ERROR_RATES[person.name]
    decided = _wrong(sight.item, right, rng) if errs else _form(right)
    current = Draft(choice=Choice.ACCEPT, revision=sight.revision, digest=sight.digest, upon=sight.upon)
    return current.model_copy(update=decided)


def _form(right: Right) -> dict[str, object]:
    return {"choice": right.choice, "comment": right.reason, "first_bad_step": right.step}


def _wrong(item: Item, right: Right, rng: random.Random) -> dict[str, object]:
    """A decision other than the right one."""
    if right.choice is Choice.REJECT:
        return _form(Right(Choice.ACCEPT))
    step = item.step_count - 1 if item.step_count else None
    ways: list[Callable[[], dict[str, object]]] = [
        lambda: _form(Right(Choice.REJECT, "an error made on purpose", step)),
    ]
    if isinstance(item, CaseItem):
        ways.append(lambda: {"choice": Choice.EDIT, "edits": {"explanation": f"Looked at again: {item.explanation}"}})
    return rng.choice(ways)()
