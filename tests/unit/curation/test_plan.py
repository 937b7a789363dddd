from collections import Counter
from itertools import pairwise

import pytest

from components.config.schema import BenchmarkParams, WorldParams
from components.curation.collecting.find import Found, Post
from components.curation.curator.proposal import Topic, Trail
from components.curation.plan import CasePlan, plan_cases
from components.records.case import ErrorType, Split
from components.world.altering import possible
from components.world.entities import Facts
from components.world.facts import build_facts
from components.world.labels import quotas


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


def offer(facts: Facts) -> list[CasePlan]:
    """Everything that circulates, as if all of it had been recovered and screened."""
    return [
        CasePlan(
            case_id="",
            event=facts.event[post.event_id],
            error_type=post.error_type,
            titled=post.titled,
            seed=post.post_url,
            found=Found(
                post=Post(page_url=post.post_url, image_url=post.image_url, posted=post.posted, sha256="0" * 64),
                topic=Topic(title=facts.event[post.event_id].title, year=2031),
                recovered_by="title",
                checks=(),
                trail=Trail(),
            ),
        )
        for post in facts.circulating
    ]


def test_the_share_is_collected_and_quotas_stay_exact_over_both_routes(default_facts: Facts) -> None:
    plans = plan_cases(default_facts, BenchmarkParams(), offer(default_facts))
    for split, each, supported, untitled in ((Split.TRAIN, 28, 144, 72), (Split.TEST, 7, 36, 18)):
        own = [plan for plan in plans if plan.event.split is split]
        collected = Counter(plan.error_type for plan in own if plan.found)
        drawn = Counter(plan.error_type for plan in own if not plan.found)
        assert collected.total() == 0.2 * len(own)
        assert collected + drawn == Counter({None: supported} | dict.fromkeys(ErrorType, each))
        for counts, share in ((collected, 0.2), (drawn, 0.8)):
            assert counts.pop(None) == round(0.3 * share * len(own))
            assert set(counts) == set(ErrorType)
            assert max(counts.values()) - min(counts.values()) <= 1
        assert sum(not plan.titled for plan in own) == untitled
    seen = Counter((plan.event.event_id, plan.error_type) for plan in plans)
    assert set(seen.values()) == {1}
    assert set(Counter(plan.event.event_id for plan in plans).values()) == {2}


def test_what_is_collected_is_taken_as_it_was_posted_and_its_id_tells_nothing(default_facts: Facts) -> None:
    plans = plan_cases(default_facts, BenchmarkParams(), offer(default_facts))
    for plan in plans:
        if plan.found:
            post = default_facts.post[plan.found.post.page_url]
            assert (plan.error_type, plan.titled) == (post.error_type, post.titled)
            assert plan.event.event_id == post.event_id
    numbers = [int(plan.case_id[-5:]) for plan in plans if plan.found and plan.event.split is Split.TRAIN]
    assert 200 < sum(numbers) / len(numbers) < 280


def test_too_little_on_the_web_is_made_up_by_drawing(default_facts: Facts) -> None:
    few = [plan for plan in offer(default_facts) if plan.error_type is not ErrorType.SPATIAL_ALTERATION][:60]
    plans = plan_cases(default_facts, BenchmarkParams(), few)
    assert 0 < sum(plan.found is not None for plan in plans) <= 60
    assert Counter(plan.error_type for plan in plans if plan.event.split is Split.TRAIN) == Counter(
        {None: 144} | dict.fromkeys(ErrorType, 28)
    )


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_all_or_nothing_can_be_asked_for(default_facts: Facts, share: float) -> None:
    plans = plan_cases(default_facts, BenchmarkParams(images_per_event=1, web_share=share), offer(default_facts))
    assert len(plans) == 300
    assert (sum(plan.found is not None for plan in plans) > 100) is bool(share)
