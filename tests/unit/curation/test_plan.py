from collections import Counter
from itertools import pairwise

import pytest

from components.config.schema import BenchmarkParams, WorldParams
from components.curation.plan import plan_cases, quotas
from components.records.case import ErrorType, Split
from components.world.entities import Facts
from components.world.facts import build_facts


@pytest.fixture(scope="module")
def default_facts() -> Facts:
    return build_facts(WorldParams())


@pytest.mark.parametrize(("total", "supported", "refuted"), [(480, 144, {84}), (120, 36, {21}), (13, 4, {2, 3})])
def test_quotas_are_exact_and_even(total: int, supported: int, refuted: set[int]) -> None:
    counts = quotas(total, 0.3)
    assert sum(counts.values()) == total
    assert counts.pop(None) == supported
    assert set(counts.values()) == refuted


def test_the_default_benchmark_is_balanced(default_facts: Facts) -> None:
    plans = plan_cases(default_facts, BenchmarkParams())
    for split, each, supported, untitled in ((Split.TRAIN, 84, 144, 72), (Split.TEST, 21, 36, 18)):
        own = [plan for plan in plans if plan.event.split is split]
        counts = Counter(plan.error_type for plan in own)
        assert counts.pop(None) == supported
        assert counts == dict.fromkeys(ErrorType, each)
        assert sum(not plan.titled for plan in own) == untitled


def test_no_event_has_the_same_case_twice(default_facts: Facts) -> None:
    seen = Counter((plan.event.event_id, plan.error_type) for plan in plan_cases(default_facts, BenchmarkParams()))
    assert set(seen.values()) == {1}


def test_the_plan_follows_from_the_seed_alone(default_facts: Facts) -> None:
    assert plan_cases(default_facts, BenchmarkParams()) == plan_cases(default_facts, BenchmarkParams())
    assert plan_cases(default_facts, BenchmarkParams()) != plan_cases(default_facts, BenchmarkParams(seed=12))


def test_ids_are_unique_and_tell_no_event(default_facts: Facts) -> None:
    plans = plan_cases(default_facts, BenchmarkParams())
    assert len({plan.case_id for plan in plans}) == len(plans)
    neighbours = [a.event.event_id == b.event.event_id for a, b in pairwise(plans)]
    assert sum(neighbours) < 0.05 * len(plans)
