import threading

import pytest
from review_samples import ADA, BEN, EVE, PANEL, case_id, decide, draft, items_of, make_desk

from components.config.paths import Paths
from components.review.decisions import Choice, DecisionConflict, DecisionInvalid, NotVisible, Queue
from components.review.desk import Desk
from components.review.rules import Standing
from components.review.status import review_status, write_status
from components.storage.ledger import Ledger

ITEM = case_id(1)


def standing(desk: Desk) -> Standing:
    return next(outcome.standing for outcome in desk.outcomes() if outcome.item_id == ITEM)


def test_two_who_agree_settle_an_item(desk: Desk) -> None:
    assert standing(desk) is Standing.OPEN
    decide(desk, ADA, ITEM, Choice.ACCEPT)
    assert standing(desk) is Standing.OPEN
    decide(desk, BEN, ITEM, Choice.ACCEPT)
    assert standing(desk) is Standing.AGREED
    assert desk.queue(EVE) == []


def test_a_third_settles_disagreement(desk: Desk) -> None:
    decide(desk, ADA, ITEM, Choice.ACCEPT)
    decide(desk, BEN, ITEM, Choice.REJECT)
    assert standing(desk) is Standing.DISPUTED
    assert [row.item_id for row in desk.queue(EVE)] == [ITEM]
    assert {opinion.choice for opinion in desk.view(EVE, ITEM).opinions} == {Choice.ACCEPT, Choice.REJECT}
    decide(desk, EVE, ITEM, Choice.REJECT)
    assert standing(desk) is Standing.ADJUDICATED
    assert desk.queue(EVE)[0].choice is Choice.REJECT


def test_edits_must_be_the_same_to_agree(desk: Desk) -> None:
    decide(desk, ADA, ITEM, Choice.EDIT, edits={"claim": "one", "label": "refuted"})
    decide(desk, BEN, ITEM, Choice.EDIT, edits={"claim": "two"})
    assert standing(desk) is Standing.DISPUTED
    decide(desk, BEN, ITEM, Choice.EDIT, edits={"claim": "one"})
    assert standing(desk) is Standing.AGREED, "a field that keeps its value is no edit"


def test_a_reviewer_who_changes_a_decision_opens_the_dispute_again(desk: Desk) -> None:
    decide(desk, ADA, ITEM, Choice.ACCEPT)
    decide(desk, BEN, ITEM, Choice.REJECT)
    seen = desk.view(EVE, ITEM)
    decide(desk, EVE, ITEM, Choice.ACCEPT)
    decide(desk, BEN, ITEM, Choice.REJECT, comment="wrong year")
    assert standing(desk) is Standing.DISPUTED
    with pytest.raises(DecisionConflict, match="another tab"):
        desk.decide(EVE, ITEM, draft(seen, Choice.ACCEPT))
    with pytest.raises(DecisionConflict, match="a reviewer has changed"):
        desk.decide(EVE, ITEM, draft(seen, Choice.ACCEPT, revision=1))
    decide(desk, EVE, ITEM, Choice.REJECT)
    assert standing(desk) is Standing.ADJUDICATED
    decide(desk, BEN, ITEM, Choice.ACCEPT)
    assert standing(desk) is Standing.AGREED
    with pytest.raises(NotVisible):
        desk.view(EVE, ITEM)


def test_the_adjudicator_sees_no_undisputed_item_and_reviewers_no_opinion(desk: Desk) -> None:
    decide(desk, ADA, ITEM, Choice.REJECT)
    with pytest.raises(NotVisible):
        desk.view(EVE, ITEM)
    sight = desk.view(BEN, ITEM)
    assert (sight.own, sight.opinions, sight.upon, sight.revision) == (None, (), "", 0)


def test_two_tabs_cannot_overwrite_each_other(desk: Desk) -> None:
    first = second = desk.view(ADA, ITEM)
    desk.decide(ADA, ITEM, draft(first, Choice.ACCEPT))
    with pytest.raises(DecisionConflict, match=r"another tab .*accept"):
        desk.decide(ADA, ITEM, draft(second, Choice.REJECT))
    decide(desk, ADA, ITEM, Choice.REJECT)
    assert desk.view(ADA, ITEM).revision == 2


def test_of_many_at_once_one_wins(desk: Desk, paths: Paths) -> None:
    sight, refused = desk.view(ADA, ITEM), []

    def hand_in() -> None:
        try:
            desk.decide(ADA, ITEM, draft(sight, Choice.ACCEPT))
        except DecisionConflict as error:
            refused.append(error)

    threads = [threading.Thread(target=hand_in) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7
    assert len(Ledger(paths.reviews / "cases/ada.jsonl").read()) == 1


@pytest.mark.parametrize(
    ("choice", "other", "said"),
    [
        (Choice.REJECT, {"comment": "  "}, "why it is rejected"),
        (Choice.EDIT, {}, "nothing was edited"),
        (Choice.EDIT, {"edits": {"label": "refuted"}}, "nothing was edited"),
        (Choice.EDIT, {"edits": {"style": "poster"}}, "'style' is no field"),
        (Choice.EDIT, {"edits": {"label": "perhaps"}}, "one of supported, refuted"),
        (Choice.EDIT, {"edits": {"label": "supported", "error_type": "none"}}, "the details say otherwise"),
        (Choice.EDIT, {"edits": {"label": "supported", "pictured.date": "14 March 2031"}}, "has no error type"),
        (Choice.EDIT, {"edits": {"pictured.date": "14 March 2031"}}, "the details say otherwise"),
        (Choice.EDIT, {"edits": {"claim": " "}}, "claim cannot be left empty"),
        (Choice.EDIT, {"edits": {"evidence.1": "Harvest Gala was held in May."}}, "does not stand on its page"),
        (Choice.EDIT, {"edits": {"evidence.1": ""}}, "cannot be left empty"),
        (Choice.ACCEPT, {"edits": {"claim": "x"}}, "takes no edits"),
        (Choice.REJECT, {"first_bad_step": 0}, "there is no step 0"),
        (Choice.ACCEPT, {"first_bad_step": 0}, "marks no bad step"),
    ],
)
def test_a_decision_that_the_item_does_not_allow_is_refused(
    desk: Desk, paths: Paths, choice: Choice, other: dict[str, object], said: str
) -> None:
    with pytest.raises(DecisionInvalid, match=said):
        decide(desk, ADA, ITEM, choice, **other)
    assert not (paths.reviews / "cases/ada.jsonl").exists()


def test_decisions_come_back_with_a_new_desk(desk: Desk, paths: Paths) -> None:
    decide(desk, ADA, ITEM, Choice.ACCEPT)
    decide(desk, ADA, ITEM, Choice.REJECT, comment="blurred")
    again = make_desk(paths)
    own = again.view(ADA, ITEM).own
    assert own is not None
    assert (own.choice, own.revision, own.comment, own.scripted) == (Choice.REJECT, 2, "blurred", False)
    assert [record["choice"] for record in Ledger(paths.reviews / "cases/ada.jsonl").read()] == ["accept", "reject"]


def test_a_decision_does_not_count_for_what_the_item_has_become(desk: Desk, paths: Paths) -> None:
    decide(desk, ADA, ITEM, Choice.ACCEPT)
    old = desk.view(ADA, ITEM)
    items = [item.model_copy(update={"claim": "other"}) if item.item_id == ITEM else item for item in items_of(paths)]
    changed = Desk(PANEL, items, paths.reviews / "cases")
    assert changed.view(ADA, ITEM).own is None
    assert review_status(Queue.CASES, changed).stale == {"ada": 1, "ben": 0, "eve": 0}
    with pytest.raises(DecisionConflict, match="has changed since"):
        changed.decide(ADA, ITEM, draft(old, Choice.ACCEPT))
    decide(changed, ADA, ITEM, Choice.ACCEPT)
    assert changed.view(ADA, ITEM).revision == 2


def test_a_decision_counts_again_when_the_item_is_again_what_was_shown(desk: Desk, paths: Paths) -> None:
    decide(desk, ADA, ITEM, Choice.REJECT)
    items = [item.model_copy(update={"claim": "other"}) if item.item_id == ITEM else item for item in items_of(paths)]
    decide(Desk(PANEL, items, paths.reviews / "cases"), ADA, ITEM, Choice.ACCEPT)
    back = make_desk(paths).view(ADA, ITEM)
    assert back.own is not None
    assert (back.own.choice, back.revision) == (Choice.REJECT, 2)


def test_without_a_folder_nothing_is_written(desk: Desk, paths: Paths) -> None:
    memory = Desk(PANEL, items_of(paths), None, clock=lambda: "")
    decide(memory, ADA, ITEM, Choice.ACCEPT)
    own = memory.view(ADA, ITEM).own
    assert own is not None
    assert own.decided_at == ""
    assert not (paths.reviews / "cases").exists()


def test_the_table_adds_up(desk: Desk, paths: Paths) -> None:
    for number, (ada, ben) in enumerate(
        [(Choice.ACCEPT, Choice.ACCEPT), (Choice.REJECT, Choice.ACCEPT), (Choice.REJECT, Choice.REJECT)]
    ):
        decide(desk, ADA, case_id(number), ada)
        decide(desk, BEN, case_id(number), ben)
    status = review_status(Queue.CASES, desk)
    assert (status.items, status.open, status.settled, status.waiting) == (4, 1, 2, 1)
    decide(desk, EVE, case_id(1), Choice.REJECT)
    status = write_status(paths, Queue.CASES, desk)
    assert (status.settled, status.disagreements, status.adjudicated, status.waiting) == (3, 1, 1, 0)
    assert status.by_decision == {Choice.ACCEPT: 1, Choice.EDIT: 0, Choice.REJECT: 2}
    assert status.decided == {"ada": 3, "ben": 3, "eve": 1}
    assert status.agreement is not None
    assert status.agreement.kappa == pytest.approx(0.4)
    assert (paths.metrics / "case_review.json").read_text().startswith('{\n  "queue": "cases"')
    assert len((paths.reviews / "cases/outcomes.jsonl").read_text().splitlines()) == 4
