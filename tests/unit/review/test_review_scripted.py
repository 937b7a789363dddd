import pytest
from review_samples import ADA, decide, items_of, write_checkout

from components.config.paths import Paths
from components.errors import PreflightError, UsageError
from components.records.case import Split, Verdict
from components.review import serve
from components.review.decisions import Choice, Queue
from components.review.desk import Desk
from components.review.panel import load_panel, review_folder, save_panel
from components.review.scripted import ERROR_RATES, PANEL, review_all, right_case, right_decisions
from components.review.serve import Assignment
from components.storage.ledger import Ledger

CASES = Assignment(Queue.CASES, (Split.TEST,))


def ledgers(paths: Paths, queue: str = "cases") -> dict[str, list[dict[str, object]]]:
    return {name: Ledger(paths.reviews / queue / f"{name}.jsonl").read() for name in ERROR_RATES}


def told(records: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{key: value for key, value in record.items() if key not in ("decided_at", "upon")} for record in records]


@pytest.mark.parametrize("queue", list(Queue))
def test_programs_fill_the_ledgers_and_say_so(paths: Paths, queue: Queue) -> None:
    status = serve.review_scripted(paths, Assignment(queue, (Split.TEST,)), seed=0)
    assert (status.items, status.open, status.waiting, status.settled) == (4, 0, 0, 4)
    assert status.scripted
    for name, records in ledgers(paths, queue.value).items():
        assert all(record["scripted"] and record["error_rate"] == ERROR_RATES[name] for record in records)
    assert (paths.metrics / f"{queue.value.removesuffix('s')}_review.json").exists()


def test_the_same_seed_decides_the_same_and_a_second_run_has_nothing_to_do(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    one, two, other = (write_checkout(tmp_path_factory.mktemp("checkout"), cases=40) for _ in range(3))
    for paths, seed in ((one, 1), (two, 1), (other, 2)):
        serve.review_scripted(paths, CASES, seed)
    first = ledgers(one)
    assert [told(records) for records in first.values()] == [told(records) for records in ledgers(two).values()]
    assert told(first["scripted-two"]) != told(ledgers(other)["scripted-two"])
    serve.review_scripted(one, CASES, seed=1)
    assert ledgers(one) == first


def test_each_errs_at_its_own_rate_and_the_third_mends(tmp_path_factory: pytest.TempPathFactory) -> None:
    paths = write_checkout(tmp_path_factory.mktemp("checkout"), cases=300)
    status = serve.review_scripted(paths, CASES, seed=3)
    for name, records in ledgers(paths).items():
        wrong = sum(record["choice"] != "accept" for record in records) / len(records)
        assert wrong == pytest.approx(ERROR_RATES[name], abs=0.05), name
    assert status.agreement is not None
    assert 0.75 < status.agreement.share < 0.92
    assert status.by_decision[Choice.ACCEPT] > 290
    assert status.error_rates == ERROR_RATES


def test_a_killed_run_goes_on(paths: Paths) -> None:
    items = items_of(paths)
    desk = Desk(PANEL, items, review_folder(paths, Queue.CASES))
    assert review_all(desk, right_decisions(paths, Queue.CASES, items), seed=0) >= 8
    ledger = paths.reviews / "cases/scripted-two.jsonl"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:2]) + b'{"torn')
    serve.review_scripted(paths, CASES, seed=0)
    assert len(ledgers(paths)["scripted-two"]) == 4


def test_a_record_that_contradicts_itself_is_rejected(paths: Paths) -> None:
    item = items_of(paths)[0]
    assert right_case(item).choice is Choice.ACCEPT
    assert right_case(item.model_copy(update={"label": Verdict.REFUTED})).choice is Choice.REJECT
    source = item.sources[0]
    lost = source.model_copy(update={"quotes": (source.quotes[0].model_copy(update={"found": False}),)})
    assert right_case(item.model_copy(update={"sources": (lost,)})).choice is Choice.REJECT


def test_programs_do_not_take_the_place_of_people(paths: Paths, desk: Desk) -> None:
    save_panel(paths, Queue.CASES, desk.panel)
    decide(desk, ADA, items_of(paths)[0].item_id, Choice.ACCEPT)
    with pytest.raises(UsageError, match=r"people have decided here \(ada 1, ben 0, eve 0\)"):
        serve.review_scripted(paths, CASES, seed=0)
    assert load_panel(paths, Queue.CASES) == desk.panel


def test_two_processes_never_write_the_same_ledgers(paths: Paths) -> None:
    with (
        serve._only_writer(paths, Queue.CASES),
        pytest.raises(PreflightError, match="runs already for the cases"),
    ):
        serve.review_scripted(paths, CASES, seed=0)


def test_nothing_to_tell_and_nobody_to_serve_are_wrong_usage(paths: Paths) -> None:
    with pytest.raises(UsageError, match="nobody reviews cases yet"):
        serve.status(paths, CASES)
    with pytest.raises(UsageError, match="who reviews"):
        serve.serve(paths, CASES, None, host="127.0.0.1", port=0, renew=False, announce=print)
