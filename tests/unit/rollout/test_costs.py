"""The cost table, by tool and by episode."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.config.tools import ModelPrice, PriceParams
from components.records.case import Case
from components.records.episode import Episode, Observation, Step, StepKind, Termination, ToolCall, Turn
from components.records.usage import Charge, Meter, Spent, Usage
from components.rollout.costs import CostRow, cost_metrics, cost_table, in_words, joined

PRICES = PriceParams(as_of="2031-01-01", models={"gpt": ModelPrice(input_usd=1.0, output_usd=10.0)})
SEARCH = Usage(meter=Meter.SERPER_CREDITS, calls=1, units=1)
PAGE = Usage(meter=Meter.JINA_TOKENS, calls=1, units=2000)


def step(index: int, tool: str, *usage: Usage, status: str = "success", seconds: float = 0.5) -> Step:
    return Step(
        index=index,
        kind=StepKind.ACTION,
        turn=Turn(text="t", prompt_tokens=100, token_ids=(1, 2, 3)),
        call=ToolCall(name=tool, arguments_json="{}"),
        observation=Observation(
            observation_id=f"o{index + 1}", tool=tool, status=status, text="", duration_s=seconds, usage=usage
        ),
    )


def episode_of(case_id: str, *steps: Step, policy: str = "gpt") -> Episode:
    refused = Step(index=len(steps), kind=StepKind.CORRECTION, turn=Turn(text="hm", completion_tokens=7))
    return Episode(
        episode_id=f"{case_id}--{policy}--s0",
        case=Case(case_id=case_id, image_path="x.png", image_sha256="0" * 64),
        policy=policy,
        seed=0,
        exposed_tools=(),
        action_budget=24,
        steps=(*steps, refused),
        report=None,
        termination=Termination.PROTOCOL_FAILURE,
        started_at="2031-01-01T00:00:00+00:00",
        duration_s=9.0,
    )


EPISODES = [
    episode_of("c1", step(0, "text_search", SEARCH), step(1, "visit", PAGE, status="error", seconds=2.0)),
    episode_of("c2", step(0, "text_search", SEARCH), step(1, "perceive_scene")),
]


def test_calls_failures_seconds_tokens_and_money_by_tool_and_by_episode() -> None:
    table = cost_table(EPISODES, Spent(requests=3), PRICES)
    assert list(table.tools) == ["perceive_scene", "text_search", "visit", "policy"]
    assert table.tools["text_search"] == CostRow(calls=2, requests=2, seconds=1.0, list_usd=0.002)
    assert table.tools["visit"] == CostRow(calls=1, failed=1, requests=1, seconds=2.0, list_usd=0.0001)
    policy = table.tools["policy"]
    assert (policy.calls, policy.failed, policy.tokens_in, policy.tokens_out) == (6, 2, 400, 26)
    assert policy.list_usd == pytest.approx((400 + 26 * 10) / 1e6)
    first = table.episodes["c1--gpt--s0"]
    assert (first.calls, first.failed, first.requests, first.seconds, first.tokens_out) == (2, 1, 2, 2.5, 13)
    assert (table.total.calls, table.total.failed) == (4, 1), "turns are no tool calls"
    assert table.total.list_usd == pytest.approx(sum(row.list_usd for row in table.tools.values()))
    assert table.total.spent_usd == 0.0, "the closed world wants nothing"


def test_what_was_spent_on_failed_attempts_is_in_the_table() -> None:
    lost = Usage(meter=Meter.SERPER_CREDITS, calls=2, units=5)
    spent = Spent(requests=5, charges=(Charge(episode_id="gone", tool="text_search", usage=lost, billed=True),))
    table = cost_table(EPISODES, spent, PRICES)
    assert table.episodes["gone"] == CostRow(spent_usd=0.005)
    assert table.tools["text_search"].spent_usd == table.total.spent_usd == pytest.approx(0.005)
    assert table.total.list_usd == cost_table(EPISODES, Spent(), PRICES).total.list_usd


def test_episodes_from_before_usage_was_kept_are_read() -> None:
    old = json.loads(EPISODES[0].model_dump_json())
    for item in old["steps"]:
        del item["turn"]["completion_tokens"]
        if item["observation"]:
            del item["observation"]["usage"]
    read = Episode.model_validate(old)
    assert cost_table([read], Spent(), PRICES).total.requests == 0
    assert Episode.model_validate_json(EPISODES[0].model_dump_json()) == EPISODES[0]


def test_tables_are_joined_and_told_as_metrics_and_in_a_line() -> None:
    one, two = (cost_table([episode], Spent(requests=1), PRICES) for episode in EPISODES)
    table, whole = joined([one, two]), cost_table(EPISODES, Spent(requests=2), PRICES)
    assert (table.tools, table.episodes, table.sent) == (whole.tools, whole.episodes, whole.sent)
    metrics = cost_metrics(table, "evaluation")
    assert metrics["cost/evaluation/calls"] == 4.0
    assert metrics["cost/evaluation/visit/failed"] == 1.0
    assert metrics["cost/evaluation/policy/tokens_in"] == 400.0
    assert metrics["cost/evaluation/episode/list_usd_max"] == pytest.approx(
        max(r.list_usd for r in (one.total, two.total))
    )
    assert in_words(table) == (
        "3 requests, 400 tokens read and 26 written, nothing spent, 0.00276 USD at list prices of 2031-01-01"
    )


def test_no_episode_costs_nothing() -> None:
    table = cost_table([], Spent(), PRICES)
    assert table.total == CostRow()
    assert cost_metrics(table, "episodes")["cost/episodes/list_usd"] == 0.0


USAGES = st.builds(Usage, meter=st.sampled_from(list(Meter)), calls=st.integers(0, 3), units=st.integers(0, 5000))
STEPS = st.lists(st.tuples(st.sampled_from(["visit", "text_search"]), st.lists(USAGES, max_size=2)), max_size=4)


@given(st.lists(STEPS, max_size=4), st.lists(USAGES, max_size=3))
def test_rows_of_tools_and_of_episodes_add_up_to_the_total(
    steps: list[list[tuple[str, list[Usage]]]], lost: list[Usage]
) -> None:
    episodes = [
        episode_of(f"c{number}", *(step(at, tool, *usage) for at, (tool, usage) in enumerate(taken)))
        for number, taken in enumerate(steps)
    ]
    charges = tuple(Charge(episode_id="lost", tool="visit", usage=usage, billed=True) for usage in lost)
    table = cost_table(episodes, Spent(charges=charges), PRICES)
    for name in ("requests", "seconds", "tokens_in", "tokens_out", "list_usd", "spent_usd"):
        by_tool = sum(getattr(row, name) for row in table.tools.values())
        by_episode = sum(getattr(row, name) for row in table.episodes.values())
        assert by_tool == pytest.approx(getattr(table.total, name)) == pytest.approx(by_episode)
    assert table.total.calls == sum(map(len, steps))
