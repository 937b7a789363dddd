from collections import Counter
from itertools import pairwise

import pytest

from components.config.schema import BenchmarkParams, WorldParams
from components.curation.plan import plan_cases, possible, quotas
from components.records.case import ErrorType, Split
from components.world.entities import Facts
from components.world.facts import build_facts


@pytest.fixture(scope="module")
def default_facts() -> Facts:
    return build_facts(WorldParams())


@pytest.mark.parametrize(("total", "supported", "refuted"), [(480, 144, {28}), (120, 36, {7}), (23, 7, {1, 2})])
def test_quotas_are_exact_and_even(total: int, supported: int, refuted: set[int]) -> None:
    counts = quotas(total, 0.3)
    assert sum(counts.values()) == total
    assert counts.pop(None) == supported
    assert set(counts.values()) == refuted


def test_the_default_benchmark_is_balanced(default_facts: Facts) -> None:
    plans = plan_cases(default_facts, BenchmarkParams())
    for split, each, supported, untitled in ((Split.TRAIN, 28, 144, 72), (Split.TEST, 7, 36, 18)):
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


def test_a_case_is_only_planned_where_the_event_allows_it(default_facts: Facts) -> None:
    for plan in plan_cases(default_facts, BenchmarkParams()):
        assert plan.error_type is None or plan.error_type in possible(plan.event, default_facts)
        if not plan.titled:
            assert plan.event.photo_url is not None
            assert plan.error_type not in (ErrorType.EVENT_RECONTEXTUALIZATION, ErrorType.SPATIAL_ALTERATION)


def test_both_kinds_of_event_have_every_type_in_training(default_facts: Facts) -> None:
    plans = [plan for plan in plan_cases(default_facts, BenchmarkParams()) if plan.event.split is Split.TRAIN]
    assert len({(plan.error_type, plan.event.photo_url is None) for plan in plans}) == 2 * (1 + len(ErrorType))


def test_what_finds_no_event_goes_to_the_types_that_every_event_can_have() -> None:
    facts = build_facts(WorldParams(train_events=3, test_events=3))
    plans = plan_cases(facts, BenchmarkParams(supported_share=0, images_per_event=4))
    assert len(plans) == 24
    assert {plan.error_type for plan in plans} >= {ErrorType.TEMPORAL_DISPLACEMENT, ErrorType.NUMERICAL_ALTERATION}


def test_quotas_hold_for_thousands_of_cases_too() -> None:
    facts = build_facts(WorldParams(train_events=1500, test_events=300))
    counts = Counter(plan.error_type for plan in plan_cases(facts, BenchmarkParams()))
    assert max(counts[kind] for kind in ErrorType) - min(counts[kind] for kind in ErrorType) <= 2
