import warnings

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from components.review.agreement import crossed, kappas, measure


def test_kappa_of_a_known_table() -> None:
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = measure(first, second)
    assert found is not None
    assert found.items == 50
    assert found.share == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.4 < found.high


@pytest.mark.parametrize("seed", range(5))
def test_kappa_is_what_scikit_learn_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.choice(["accept", "edit", "reject"], size=40).tolist()
    second = [name if rng.random() < 0.6 else "reject" for name in first]
    found = measure(first, second)
    assert found is not None
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second))


def test_the_interval_is_that_of_drawing_items() -> None:
    rng = np.random.default_rng(3)
    first = rng.choice(["accept", "reject"], size=60)
    second = np.where(rng.random(60) < 0.8, first, "accept")
    found = measure(first.tolist(), second.tolist())
    draws = rng.integers(60, size=(2000, 60))
    slow = [kappas(crossed(first[draw].tolist(), second[draw].tolist())[None])[0] for draw in draws]
    assert found is not None
    assert [found.low, found.high] == pytest.approx(np.quantile(slow, [0.025, 0.975]), abs=0.05)


def test_kappa_is_undefined_where_both_always_say_the_same() -> None:
    found = measure(["accept"] * 5, ["accept"] * 5)
    assert found is not None
    assert (found.share, found.kappa, found.low) == (1.0, None, None)


def test_no_item_has_no_agreement_and_a_single_one_does_not_warn() -> None:
    assert measure([], []) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = measure(["accept"], ["reject"])
    assert found is not None
    assert found.kappa == 0.0
