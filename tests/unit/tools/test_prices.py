"""Units become money in one place, by a dated table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.config.tools import ModelPrice, PriceParams
from components.records.usage import Meter, Usage, policy_usage, summed
from components.tools.prices import price, total_price

PRICES = PriceParams(
    models={
        "gpt-*": ModelPrice(input_usd=2.0, output_usd=10.0),
        "gpt-*-mini": ModelPrice(input_usd=0.5, output_usd=2.0),
    }
)
USAGES = st.builds(
    Usage,
    meter=st.sampled_from([*Meter, "policy sft", "policy gpt-6"]),
    calls=st.integers(0, 50),
    units=st.integers(0, 10_000),
    output_units=st.integers(0, 10_000),
)


@pytest.mark.parametrize(
    ("meter", "units", "usd"),
    [
        (Meter.SERPER_CREDITS, 3, 0.003),
        (Meter.JINA_TOKENS, 1_000_000, 0.05),
        (Meter.BAIDU_GENERAL, 2, 0.004),
        (Meter.BAIDU_ACCURATE, 2, 0.008),
        (Meter.UPLOADS, 100, 0.001),
    ],
)
def test_every_meter_has_its_price(meter: Meter, units: int, usd: float) -> None:
    assert price(Usage(meter=meter, calls=1, units=units), PRICES) == pytest.approx(usd)


def test_the_tokens_of_a_policy_are_priced_by_its_name_and_ones_own_are_free() -> None:
    def turns(policy: str) -> float:
        return price(policy_usage(policy, turns=1, read=1_000_000, written=100_000), PRICES)

    assert turns("gpt-6") == pytest.approx(2.0 + 1.0)
    assert turns("gpt-6-mini") == pytest.approx(0.5 + 0.2), "the longest name that matches"
    assert turns("sft") == turns("scripted") == 0.0


def test_an_unknown_meter_is_no_free_meter() -> None:
    with pytest.raises(ValueError, match="the meter 'telegrams' has no price; known are serper credits"):
        price(Usage(meter="telegrams", units=1), PRICES)


@given(st.lists(USAGES), st.lists(USAGES))
def test_money_is_added_up_alike_whatever_the_order_and_grouping(first: list[Usage], second: list[Usage]) -> None:
    whole = total_price([*first, *second], PRICES)
    assert whole >= 0
    assert total_price([*second, *first], PRICES) == pytest.approx(whole)
    assert total_price(summed([*first, *second]), PRICES) == pytest.approx(whole)
    assert total_price(summed(first), PRICES) + total_price(summed(second), PRICES) == pytest.approx(whole)
    assert sum(item.calls for item in summed([*first, *second])) == sum(item.calls for item in (*first, *second))


@given(USAGES, st.floats(0, 100))
def test_money_follows_the_table(usage: Usage, factor: float) -> None:
    dearer = PRICES.model_copy(
        update={
            name: getattr(PRICES, name) * factor for name in PriceParams.model_fields if name not in ("as_of", "models")
        }
        | {
            "models": {
                name: ModelPrice(input_usd=item.input_usd * factor, output_usd=item.output_usd * factor)
                for name, item in PRICES.models.items()
            }
        }
    )
    assert price(usage, dearer) == pytest.approx(factor * price(usage, PRICES))
