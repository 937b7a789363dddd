"""Rollouts that stop at their budget and go on when it is raised, at a server that counts what it is asked."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from rollout_doubles import Tools, Walker, make_cases
from vendor_doubles import COMMON, Vendors, answer, serving

from components.agent.codec import render_call
from components.config.schema import AgentParams, BudgetLimit
from components.config.tools import ModelPrice, PriceParams
from components.errors import BudgetReached
from components.records.case import Case
from components.records.conversation import Conversation
from components.records.episode import Episode, Termination, Turn
from components.records.image_bank import ImageBank
from components.records.usage import START_CHECK, Charge, Meter, Spent, Usage, policy_usage
from components.rollout.budget import Budget
from components.rollout.engine import Job, run_episodes
from components.rollout.spending import LEDGER, Spending
from components.rollout.store import RolloutStore
from components.tools.clients.errors import Quarantined
from components.tools.clients.http import Requester
from components.tools.clients.serper import SerperClient
from components.tools.retrieval import TextSearch
from components.tools.source_policy import SourcePolicy
from components.tools.toolbox import Toolbox
from components.tools.transports import NetworkTransport, Sent

REPOSITORY = Path(__file__).parents[3]
PRICES = PriceParams()


class Searching:
    """Opens toolboxes with one tool, which searches at a vendor."""

    def __init__(self, requester: Requester, url: str, bank: ImageBank) -> None:
        self._tool = TextSearch(SerperClient(requester, "key", url), SourcePolicy(), 3)
        self._bank = bank

    def toolbox(self, case: Case, image: bytes) -> Toolbox:
        return Toolbox(case, image, [self._tool], self._bank)


class Asker(Walker):
    """Searches `looks` times, each time for something else, and reports without citing a lead."""

    name = "asker"

    def turn(self, conversation: Conversation) -> Turn:
        if conversation.stage == "report":
            return super().turn(conversation).model_copy(update={"text": REPORT})
        looks = sum(message.role == "tool" for message in conversation.messages)
        if looks < self.looks:
            picture = next(message.images[0] for message in conversation.messages if message.images)
            query = f"{picture[:8]} {conversation.seed} {looks}"
            return Turn(text=render_call("ask.", "text_search", {"query": query}), completion_tokens=10)
        return super().turn(conversation)


REPORT = '<think>\n.\n</think>\n\n<answer>\n{"verdict":"refuted","explanation":"a","cited":[]}\n</answer>'


@pytest.fixture
def vendors() -> Iterator[Vendors]:
    with serving() as vendors:
        yield vendors


def jobs_for(folder: Path, count: int) -> list[Job]:
    return [Job(case, 0) for case in make_cases(ImageBank(folder), count)]


def run(
    folder: Path,
    vendors: Vendors,
    jobs: Sequence[Job],
    *,
    calls: int | None = None,
    usd: float | None = None,
    policy: Walker | None = None,
    prices: PriceParams = PRICES,
    concurrency: int = 4,
    before: Spent | None = None,
) -> tuple[list[Episode], Spending]:
    bank = ImageBank(folder)
    spending = Spending(prices, folder / "work" / LEDGER, before)
    budget = Budget("episodes", BudgetLimit(usd=usd, calls=calls), spending)

    async def go() -> list[Episode]:
        async with Requester(Sent(NetworkTransport(), billed=True), 5) as requester:
            return await run_episodes(
                jobs,
                policy or Asker(),
                Searching(requester, vendors.url, bank),
                AgentParams(),
                bank=bank,
                folder=folder / "work",
                concurrency=concurrency,
                budget=budget,
            )

    return asyncio.run(go()), spending


def finished(folder: Path) -> dict[str, Episode]:
    return RolloutStore(folder / "work").episodes()


def test_a_budget_in_calls_stops_the_run_and_a_larger_one_ends_it_without_asking_twice(
    tmp_path: Path, vendors: Vendors
) -> None:
    jobs = jobs_for(tmp_path, 10)
    with pytest.raises(BudgetReached) as caught:
        run(tmp_path, vendors, jobs, calls=8)
    assert "8 requests and 0.0080 USD (budget.episodes_calls is 8), with 4 of 10 episodes finished" in str(caught.value)
    assert caught.value.exit_code == 4
    assert len(vendors.queries) == 8, "what is in flight never needs more than is left when all take alike"
    before = finished(tmp_path)
    assert len(before) == 4

    with pytest.raises(BudgetReached, match="8 requests"):
        run(tmp_path, vendors, jobs, calls=8)
    assert len(vendors.queries) == 8, "what was spent before a restart counts"

    episodes, spending = run(tmp_path, vendors, jobs, calls=100)
    assert len(episodes) == 10
    assert {episode.termination for episode in episodes} == {Termination.FINISHED}
    assert {episode.episode_id: episode for episode in episodes if episode.episode_id in before} == before
    assert len(vendors.queries) == len(set(vendors.queries)) == 20 == spending.requests
    assert spending.usd == pytest.approx(0.020)


def test_a_budget_in_money_stops_the_run(tmp_path: Path, vendors: Vendors) -> None:
    with pytest.raises(BudgetReached, match=r"4 requests and 0.0040 USD \(budget.episodes_usd is 0.0035\)"):
        run(tmp_path, vendors, jobs_for(tmp_path, 6), usd=0.0035)
    assert len(finished(tmp_path)) == 2


def test_those_in_flight_are_brought_to_their_end_and_only_they_pass_the_budget(
    tmp_path: Path, vendors: Vendors
) -> None:
    class Uneven(Asker):
        """The first investigation is short, the others are long."""

        def turn(self, conversation: Conversation) -> Turn:
            first = next(message.images[0] for message in conversation.messages if message.images) == cheap
            self.looks = 1 if first else 5
            return super().turn(conversation)

    jobs = jobs_for(tmp_path, 12)
    cheap = jobs[0].case.image_sha256
    with pytest.raises(BudgetReached):
        run(tmp_path, vendors, jobs, calls=6, policy=Uneven(), concurrency=4)
    assert all(episode.termination is Termination.FINISHED for episode in finished(tmp_path).values())
    assert len(finished(tmp_path)) == 5, "the first, and the four that seemed to fit"
    assert len(vendors.queries) == 1 + 4 * 5


def test_a_budget_of_nought_asks_nothing(tmp_path: Path, vendors: Vendors) -> None:
    with pytest.raises(BudgetReached, match="0 of 2 episodes"):
        run(tmp_path, vendors, jobs_for(tmp_path, 2), calls=0)
    assert vendors.asked == []


def test_investigations_that_take_nothing_run_side_by_side_under_a_budget(tmp_path: Path, vendors: Vendors) -> None:
    policy = Asker(looks=0)
    episodes, _ = run(tmp_path, vendors, jobs_for(tmp_path, 6), calls=5, policy=policy)
    assert len(episodes) == 6
    assert max(policy.batches) == 2, "of four at once, in two batches that take turns"


def test_what_systems_under_the_same_budget_have_spent_counts(tmp_path: Path, vendors: Vendors) -> None:
    charge = Charge(
        episode_id="x", tool="visit", usage=Usage(meter=Meter.SERPER_CREDITS, calls=9, units=9), billed=True
    )
    spent = Spent(requests=9, charges=(charge,))
    with pytest.raises(BudgetReached, match=r"9 requests and 0.0090 USD .* 0 of 1"):
        run(tmp_path, vendors, jobs_for(tmp_path, 1), calls=9, before=spent)
    _, spending = run(tmp_path, vendors, jobs_for(tmp_path, 1), calls=12, before=spent)
    assert spending.requests == 11
    assert spending.spent.requests == 2, "what others have spent is theirs"


def test_what_a_kill_broke_off_is_in_flight_while_it_is_taken_up(tmp_path: Path) -> None:
    """The first goes alone under a budget, also where each has a call that has to be made again."""
    jobs, bank = jobs_for(tmp_path, 3), ImageBank(tmp_path)
    for job in jobs:
        notes = RolloutStore(tmp_path / "work").journal(job.episode_id("walker"), 0)
        notes.answered(Turn(text=render_call("look.", "perceive_scene", {})))
    asked = {"bank": bank, "folder": tmp_path / "work", "concurrency": 3, "journal": True}
    budget = Budget("episodes", BudgetLimit(usd=None, calls=9), Spending(PRICES))
    tools = Tools(bank, tmp_path / "looks.txt", delay_s=lambda: 0.01)
    asyncio.run(run_episodes(jobs, Walker(), tools, AgentParams(), budget=budget, **asked))  # type: ignore[arg-type]
    looks = (tmp_path / "looks.txt").read_text().split()
    assert len(looks) == 2 * 3
    assert looks[:2] == ["c000", "c000"]


def test_what_trying_servers_out_has_cost_counts_and_is_no_measure_of_an_episode(
    tmp_path: Path, vendors: Vendors
) -> None:
    usage = Usage(meter=Meter.SERPER_CREDITS, calls=50, units=50)
    Spending(PRICES, tmp_path / "work" / LEDGER).charge(
        Charge(episode_id=START_CHECK, tool="model", usage=usage, billed=True)
    )
    policy = Asker()
    _, spending = run(tmp_path, vendors, jobs_for(tmp_path, 6), calls=50 + 40, policy=policy)
    assert spending.requests == 50 + 12
    assert max(policy.batches) == 2, "four at once, in two batches, since an episode takes two requests and not fifty"


def test_failed_attempts_stay_charged(tmp_path: Path, vendors: Vendors) -> None:
    class Breaking(Asker):
        """Breaks once in the middle of an investigation."""

        broken = False

        def turn(self, conversation: Conversation) -> Turn:
            looked = any(message.role == "tool" for message in conversation.messages)
            if looked and not Breaking.broken:
                Breaking.broken = True
                raise RuntimeError("once")
            return super().turn(conversation)

    jobs = jobs_for(tmp_path, 1)
    episodes, spending = run(tmp_path, vendors, jobs, policy=Breaking(), concurrency=1)
    assert sum(used.calls for seen in episodes[0].observations for used in seen.usage) == 2
    assert spending.requests == len(vendors.queries) == 3
    assert Spending(PRICES, tmp_path / "work" / LEDGER).spent == spending.spent


def test_repeated_requests_count_and_failures_are_free(tmp_path: Path, vendors: Vendors) -> None:
    fails = iter([True, *([False] * 9)])
    good = {"organic": [{"title": "t", "link": "https://a.example/1"}], "credits": 1}
    vendors.faults["serper"] = lambda: COMMON["502"]() if next(fails) else answer(good)
    _, spending = run(tmp_path, vendors, jobs_for(tmp_path, 1))
    assert (spending.requests, spending.usd) == (3, pytest.approx(0.002))


def test_the_tokens_of_a_policy_with_a_price_count(tmp_path: Path, vendors: Vendors) -> None:
    prices = PriceParams(models={"ask*": ModelPrice(input_usd=0, output_usd=100)})
    with pytest.raises(BudgetReached):
        run(tmp_path, vendors, jobs_for(tmp_path, 3), usd=0.003, prices=prices, concurrency=1)
    assert len(finished(tmp_path)) == 1
    spending = Spending(prices, tmp_path / "work" / LEDGER)
    assert spending.usd == pytest.approx(2 * 0.001 + 20 * 100 / 1e6)
    assert spending.requests == 2, "a turn is no request to a service"
    free = Spending(PRICES, tmp_path / "work" / LEDGER)
    assert free.usd == pytest.approx(0.002), "money is worked out anew from what was used"


@pytest.mark.parametrize(
    ("reply", "tokens"), [(b'{"usage": {"prompt_tokens": 40, "completion_tokens": 3}}', (40, 3)), (b"<html>", (0, 0))]
)
def test_a_reply_that_may_not_be_used_is_billed_like_any_other(reply: bytes, tokens: tuple[int, int]) -> None:
    spending = Spending(PriceParams(models={"ask": ModelPrice(input_usd=1, output_usd=100)}))
    spending.charge_turn("e1", "ask", Quarantined("language model", "numbers that are not finite", reply))
    spending.charge_turn("e1", "ask", RuntimeError("no connection"))
    assert spending.usd == pytest.approx((tokens[0] + 100 * tokens[1]) / 1e6)


def test_a_model_that_looks_for_a_tool_is_asked_by_requests_and_a_policy_is_not() -> None:
    spending = Spending(PRICES)
    looked = policy_usage("eyes", turns=1, read=900, written=20)
    spending.account("e1").charge("perceive_scene", looked, billed=True)
    spending.charge_turn("e1", "eyes", Turn(text="t", prompt_tokens=5))
    assert (spending.requests, spending.requests_of["e1"]) == (1, 1)


def test_what_a_killed_run_has_sent_stays_charged(tmp_path: Path, vendors: Vendors) -> None:
    vendors.faults["serper"] = lambda: time.sleep(30) or answer({})  # type: ignore[func-returns-value]
    environment = os.environ | {"PYTHONPATH": f"{REPOSITORY}:{Path(__file__).parent}:{REPOSITORY / 'tests'}"}
    program = (
        "import sys; from pathlib import Path; from types import SimpleNamespace as N; import test_budget as t\n"
        "folder = Path(sys.argv[1]); t.run(folder, N(url=sys.argv[2]), t.jobs_for(folder, 3))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), vendors.url], env=environment, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while len(vendors.queries) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert finished(tmp_path) == {}
    spending = Spending(PRICES, tmp_path / "work" / LEDGER)
    assert (spending.requests, spending.usd) == (3, pytest.approx(0.003)), "no answer came, and all may be billed"
    lines = (tmp_path / "work" / LEDGER).read_text().splitlines()
    assert {json.loads(line)["tool"] for line in lines} == {"text_search"}
