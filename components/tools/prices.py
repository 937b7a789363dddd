"""What usage costs: the one place where units become money."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from components.config.tools import ModelPrice, PriceParams
from components.records.usage import Meter, Usage


def price(usage: Usage, prices: PriceParams) -> float:
    """US dollars at list prices; a policy that has no price is one's own, and free.

    Raises:
        ValueError: the meter has no price.

    """
    if usage.policy is not None:
        model = model_price(usage.policy, prices)
        return 0.0 if model is None else (usage.units * model.input_usd + usage.output_units * model.output_usd) / 1e6
    return usage.units * _unit_price(usage.meter, prices)


def total_price(usages: Iterable[Usage], prices: PriceParams) -> float:
    """The same for many."""
    return sum(price(usage, prices) for usage in usages)


def model_price(policy: str, prices: PriceParams) -> ModelPrice | None:
    """The price of a policy's tokens; of several names that match it, that of the longest."""
    names = [name for name in prices.models if fnmatchcase(policy, name)]
    return prices.models[max(names, key=len)] if names else None


def _unit_price(meter: str, prices: PriceParams) -> float:
    table: dict[str, float] = {
        Meter.SERPER_CREDITS: prices.serper_credit_usd,
        Meter.JINA_TOKENS: prices.jina_million_tokens_usd / 1e6,
        Meter.BAIDU_GENERAL: prices.baidu_general_usd,
        Meter.BAIDU_ACCURATE: prices.baidu_accurate_usd,
        Meter.UPLOADS: prices.upload_usd,
    }
    if meter not in table:
        raise ValueError(f"the meter {meter!r} has no price; known are {', '.join(table)}")
    return table[meter]
