"""What stage `panel` reports: who decided what, how far they agreed, and what is released."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from components.records.base import Record
from components.records.case import Split
from components.records.funnel import Funnel, Reviewed
from components.review.decisions import Choice, Decision
from components.review.desk import Desk
from components.review.rules import Outcome
from components.review.scripted import Right
from components.review.status import ReviewStatus


class Reason(Record):
    """Why candidates were rejected, in the words of whoever settled it."""

    reason: str
    cases: int


class Mistakes(Record):
    """Where the panel's outcome is not the right one; known for scripted reviewers alone."""

    lost: int
    """Good candidates that were rejected."""
    let_through: int
    """Faulty candidates that were released."""


class PanelReport(Record):
    """The numbers of stage `panel`, also in `reports/data/panel.json`."""

    decided_by: str
    """`people`, or `scripted` where programs stood in for them."""
    status: ReviewStatus
    """Counts, disagreement and kappa."""
    decisions: dict[str, dict[Choice, int]]
    """Of each of the three, the adjudicator last: how often they chose what."""
    rejected: tuple[Reason, ...]
    """The commonest first. A list, since people write what they like."""
    edited_fields: dict[str, int]
    """How many released records have a field that was edited."""
    mistakes: Mistakes | None
    funnel: Funnel


def choices_of(desk: Desk) -> dict[str, dict[Choice, int]]:
    """How often each of the three chose what."""
    made = {
        person.name: Counter(vote.choice for vote in desk.decided(person.name).values()) for person in desk.panel.people
    }
    return {name: {choice: counts[choice] for choice in Choice} for name, counts in made.items()}


def reasons_of(desk: Desk, outcomes: Iterable[Outcome]) -> tuple[Reason, ...]:
    """The words with which rejections were settled: the adjudicator's, else those of the first reviewer."""
    votes = {person.name: desk.decided(person.name) for person in desk.panel.people}
    order = (desk.panel.adjudicator, *desk.panel.reviewers)
    counts = Counter(
        next(votes[name][item.item_id].comment for name in order if item.item_id in votes[name])
        for item in outcomes
        if item.choice is Choice.REJECT
    )
    return tuple(Reason(reason=reason, cases=count) for reason, count in counts.most_common())


def reviewed_of(split_of: Mapping[str, Split], outcomes: Sequence[Outcome]) -> dict[Split, Reviewed]:
    """What became of the candidates of each split."""
    counts = Counter((split_of[item.item_id], item.choice) for item in outcomes)
    return {
        split: Reviewed(
            candidates=sum(counts[split, choice] for choice in Choice),
            accepted=counts[split, Choice.ACCEPT],
            edited=counts[split, Choice.EDIT],
            rejected=counts[split, Choice.REJECT],
        )
        for split in Split
    }


def mistakes_of(rights: Mapping[str, Right], outcomes: Iterable[Outcome]) -> Mistakes:
    """How often the outcome keeps what is faulty or loses what is good."""
    pairs = [(item.choice is Choice.REJECT, rights[item.item_id].choice is Choice.REJECT) for item in outcomes]
    return Mistakes(lost=pairs.count((True, False)), let_through=pairs.count((False, True)))


def edited_fields(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many outcomes change each field; `evidence.2` counts as `evidence`."""
    names = (name for item in outcomes for name in {field.split(".")[0] for field in item.edits})
    return dict(sorted(Counter(names).items()))


def counted_decisions(desk: Desk) -> list[Decision]:
    """Every decision that the outcomes rest on, case by case."""
    votes = [desk.decided(person.name) for person in desk.panel.people]
    return [decided[item_id] for item_id in desk.items for decided in votes if item_id in decided]
