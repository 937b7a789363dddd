"""How far a review is and what it came to: counts, disagreement, kappa, and every item's outcome."""

from collections import Counter
from pathlib import Path

from components.config.paths import Paths
from components.records.base import Record
from components.review.agreement import Agreement, measure
from components.review.decisions import Choice, Queue
from components.review.desk import Desk
from components.review.panel import review_folder
from components.review.rules import Standing
from components.storage.atomic import write_json, write_jsonl


class ReviewStatus(Record):
    """The table of a review. items = open + settled + waiting."""

    queue: Queue
    reviewers: tuple[str, str]
    adjudicator: str
    scripted: bool
    """Whether programs decided, standing in for people."""
    error_rates: dict[str, float]
    """How often each program errs on purpose; empty for people."""
    items: int
    decided: dict[str, int]
    """Items that each of the three has decided."""
    stale: dict[str, int]
    """Items that each has decided on and that have changed since: to be decided again."""
    open: int
    """Items that a reviewer has still to decide."""
    settled: int
    by_decision: dict[Choice, int]
    """What the settled items came to."""
    disagreements: int
    """Items that the two decided differently, settled or not."""
    adjudicated: int
    waiting: int
    """Items that wait for the adjudicator."""
    agreement: Agreement | None
    """None while no item has both decisions."""


def review_status(queue: Queue, desk: Desk) -> ReviewStatus:
    """Count what a review has come to."""
    outcomes, panel = desk.outcomes(), desk.panel
    standings = Counter(item.standing for item in outcomes)
    choices = Counter(item.choice for item in outcomes if item.choice is not None)
    decided = {person.name: desk.decided(person.name) for person in panel.people}
    first, second = (decided[name] for name in panel.reviewers)
    both = [item_id for item_id in first if item_id in second]
    rates = {name: rate for name, votes in decided.items() for vote in votes.values() if (rate := vote.error_rate)}
    return ReviewStatus(
        queue=queue,
        reviewers=panel.reviewers,
        adjudicator=panel.adjudicator,
        scripted=panel.scripted,
        error_rates=rates,
        items=len(outcomes),
        decided={name: len(votes) for name, votes in decided.items()},
        stale={person.name: desk.stale(person.name) for person in panel.people},
        open=standings[Standing.OPEN],
        settled=standings[Standing.AGREED] + standings[Standing.ADJUDICATED],
        by_decision={choice: choices[choice] for choice in Choice},
        disagreements=standings[Standing.DISPUTED] + standings[Standing.ADJUDICATED],
        adjudicated=standings[Standing.ADJUDICATED],
        waiting=standings[Standing.DISPUTED],
        agreement=measure([first[name].choice for name in both], [second[name].choice for name in both]),
    )


def report_path(paths: Paths, queue: Queue) -> Path:
    """Where the table is written: `case_review.json` or `episode_review.json`."""
    return paths.metrics / f"{queue.value.removesuffix('s')}_review.json"


def write_status(paths: Paths, queue: Queue, desk: Desk) -> ReviewStatus:
    """Write the table, and each item's outcome beside the ledgers."""
    status = review_status(queue, desk)
    write_jsonl(review_folder(paths, queue) / "outcomes.jsonl", desk.outcomes())
    write_json(report_path(paths, queue), status)
    return status
