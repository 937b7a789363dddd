"""Where decisions are made: who may see which item, what a decision must be made upon, and the ledgers."""

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from components.review.decisions import Choice, Decision, DecisionConflict, DecisionInvalid, Draft, NotVisible, Role
from components.review.items import Item
from components.review.panel import Panel, Person
from components.review.rules import Outcome, Standing, Votes, digest_pair, disputed, outcome
from components.storage.identity import digest_value
from components.storage.ledger import Ledger


class Row(NamedTuple):
    """An item in somebody's queue."""

    item_id: str
    title: str
    choice: Choice | None
    """Theirs, as far as it still counts."""


class Sight(NamedTuple):
    """An item as one person sees it."""

    item: Item
    digest: str
    revision: int
    own: Decision | None
    """Their newest decision that still counts."""
    opinions: tuple[Decision, ...]
    """For the adjudicator: the two decisions in dispute, in an order that does not tell whose is whose."""
    upon: str


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Desk:
    """The state of a review, in memory and in one ledger for each person.

    One process may have it; its threads share it.

    Args:
        panel: who reviews.
        items: what is under review, in order.
        folder: where the ledgers are; None keeps decisions in memory alone.
        clock: the time of a decision, UTC, ISO 8601.

    """

    def __init__(
        self, panel: Panel, items: Sequence[Item], folder: Path | None, clock: Callable[[], str] = _now
    ) -> None:
        self.panel = panel
        self.items: Mapping[str, Item] = {item.item_id: item for item in items}
        self._digests = {item.item_id: digest_value(item) for item in items}
        self._ledgers = {person.name: Ledger(folder / f"{person.name}.jsonl") for person in panel.people if folder}
        made = {person.name: _decisions(self._ledgers.get(person.name), person.role) for person in panel.people}
        self._newest = {name: {item.item_id: item for item in decisions} for name, decisions in made.items()}
        # A build of other candidates and the way back to these leave the decisions on these as good as they were.
        self._current = {
            name: {item.item_id: item for item in decisions if self._digests.get(item.item_id) == item.item_digest}
            for name, decisions in made.items()
        }
        self._clock = clock
        self._guard = threading.Lock()

    def queue(self, person: Person) -> list[Row]:
        """What is theirs to decide: every item for a reviewer, those in dispute for the adjudicator."""
        return [
            Row(name, item.title, own.choice if (own := self._counting(person, name)) else None)
            for name, item in self.items.items()
            if self._visible(person, name)
        ]

    def view(self, person: Person, item_id: str) -> Sight:
        """An item with all that this person may know about it.

        Raises:
            NotVisible: it is not in their queue.

        """
        if not self._visible(person, item_id):
            raise NotVisible(f"there is no item {item_id} for {person.name}")
        votes, newest = self._votes(item_id), self._newest[person.name].get(item_id)
        settles = person.role is Role.ADJUDICATOR
        return Sight(
            item=self.items[item_id],
            digest=self._digests[item_id],
            revision=newest.revision if newest else 0,
            own=self._counting(person, item_id),
            opinions=_unnamed(votes) if settles else (),
            upon=digest_pair(votes) if settles else "",
        )

    def decide(
        self, person: Person, item_id: str, draft: Draft, *, scripted: bool = False, error_rate: float | None = None
    ) -> Decision:
        """Write a decision down; when this returns it is on disk, if the desk has a folder.

        Raises:
            NotVisible: the item is not in this person's queue.
            DecisionConflict: it was made upon another state of things than there is.
            DecisionInvalid: the item does not allow it.

        """
        with self._guard:
            sight = self.view(person, item_id)
            _check_current(sight, draft)
            values = {field.name: field.value for field in sight.item.fields}
            edits = {name: new for name, new in draft.edits.items() if values.get(name) != new}
            check_allowed(sight.item, draft.choice, edits)
            _check_grounds(sight.item, draft)
            decision = Decision(
                item_id=item_id,
                item_digest=sight.digest,
                reviewer=person.name,
                role=person.role,
                choice=draft.choice,
                edits=edits,
                comment=draft.comment.strip(),
                first_bad_step=draft.first_bad_step,
                upon=sight.upon,
                revision=sight.revision + 1,
                decided_at=self._clock(),
                scripted=scripted,
                error_rate=error_rate,
            )
            if person.name in self._ledgers:
                self._ledgers[person.name].append(decision)
            self._newest[person.name][item_id] = self._current[person.name][item_id] = decision
            return decision

    def outcomes(self) -> list[Outcome]:
        """What has become of every item."""
        return [outcome(name, self._votes(name)) for name in self.items]

    def decided(self, name: str) -> dict[str, Decision]:
        """One person's decisions that still count, by item."""
        person = next(person for person in self.panel.people if person.name == name)
        return {item_id: own for item_id in self.items if (own := self._counting(person, item_id)) is not None}

    def stale(self, name: str) -> int:
        """How many items one person has decided on that are no longer what they were."""
        return sum(item_id in self._newest[name] and self._fresh(name, item_id) is None for item_id in self.items)

    def _visible(self, person: Person, item_id: str) -> bool:
        if item_id not in self.items:
            return False
        return person.role is Role.REVIEWER or disputed(self._votes(item_id))

    def _votes(self, item_id: str) -> Votes:
        return Votes(*(self._fresh(person.name, item_id) for person in self.panel.people))

    def _fresh(self, name: str, item_id: str) -> Decision | None:
        """A person's newest decision on the item as it is now."""
        return self._current[name].get(item_id)

    def _counting(self, person: Person, item_id: str) -> Decision | None:
        """A person's decision, unless it is on something that is no longer so."""
        if person.role is Role.REVIEWER:
            return self._fresh(person.name, item_id)
        votes = self._votes(item_id)
        return votes.third if outcome(item_id, votes).standing is Standing.ADJUDICATED else None


def _decisions(ledger: Ledger | None, role: Role) -> list[Decision]:
    """What somebody has decided in a role, oldest first."""
    decisions = [Decision.model_validate(record) for record in (ledger.read() if ledger else ())]
    return [decision for decision in decisions if decision.role is role]


def _unnamed(votes: Votes) -> tuple[Decision, ...]:
    """Both reviewers' decisions, ordered by a digest so that the first is not always the same person's."""
    pair = [vote for vote in (votes.first, votes.second) if vote is not None]
    return tuple(sorted(pair, key=digest_value))


def _check_current(sight: Sight, draft: Draft) -> None:
    if draft.digest != sight.digest:
        raise DecisionConflict("the item has changed since it was shown; look at it again, nothing was saved")
    if draft.revision != sight.revision:
        said = f"{sight.own.choice.value} at {sight.own.decided_at}" if sight.own else "another decision"
        raise DecisionConflict(f"another tab has decided this item meanwhile ({said}); nothing was overwritten")
    if draft.upon != sight.upon:
        raise DecisionConflict("a reviewer has changed a decision meanwhile; look at both again, nothing was saved")


def check_allowed(item: Item, choice: Choice, edits: Mapping[str, str]) -> None:
    """Whether an item can be decided so; raises DecisionInvalid when it cannot."""
    values = {field.name: field for field in item.fields}
    if choice is Choice.EDIT and not values:
        raise DecisionInvalid(f"{item.item_id} can be accepted or rejected, not edited")
    if choice is Choice.EDIT and not edits:
        raise DecisionInvalid("nothing was edited; change a field, or accept")
    if choice is not Choice.EDIT and edits:
        raise DecisionInvalid(f"a decision to {choice.value} takes no edits")
    for name, new in edits.items():
        if name not in values:
            raise DecisionInvalid(f"{name!r} is no field of {item.item_id}; its fields are {', '.join(values)}")
        if values[name].choices and new not in values[name].choices:
            raise DecisionInvalid(f"{name} is {new!r}, but must be one of {', '.join(values[name].choices)}")
    if edits and (said := item.refusal(edits)) is not None:
        raise DecisionInvalid(said)


def _check_grounds(item: Item, draft: Draft) -> None:
    if draft.choice is Choice.REJECT and not draft.comment.strip():
        raise DecisionInvalid("say in a few words why it is rejected")
    if draft.first_bad_step is None:
        return
    if draft.choice is not Choice.REJECT:
        raise DecisionInvalid(f"a decision to {draft.choice.value} marks no bad step")
    if draft.first_bad_step >= item.step_count:
        raise DecisionInvalid(f"there is no step {draft.first_bad_step}; {item.item_id} has {item.step_count} steps")
