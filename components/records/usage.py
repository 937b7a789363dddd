"""What was used of services and models, in the units that they bill. Money is worked out of it, and never stored."""

from collections.abc import Iterable
from enum import StrEnum

from components.records.base import Record


class Meter(StrEnum):
    """What a service bills by."""

    SERPER_CREDITS = "serper credits"
    JINA_TOKENS = "jina tokens"
    BAIDU_GENERAL = "baidu general pictures"
    BAIDU_ACCURATE = "baidu accurate pictures"
    UPLOADS = "uploaded pictures"


START_CHECK = "start-up check"
"""What stands for an episode where the trial of a server is charged, before there is any."""

_POLICY = "policy "
"""What the meters of language models begin with; their units are tokens."""


class Usage(Record):
    """What was used of one meter."""

    meter: str
    """A `Meter`, or that of a policy."""
    calls: int = 0
    """Requests, or turns of a policy."""
    units: int = 0
    """Credits, tokens or pictures; of a policy the tokens that it read."""
    output_units: int = 0
    """Tokens that a policy wrote; none for services."""

    @property
    def policy(self) -> str | None:
        """The policy whose meter this is."""
        return self.meter.removeprefix(_POLICY) if self.meter.startswith(_POLICY) else None


class Charge(Record):
    """What an investigation was charged for: whatever was really sent, attempts that came to nothing included."""

    episode_id: str
    tool: str
    """`policy` for the turns of a policy."""
    usage: Usage
    """Below nought where a charge is taken back."""
    billed: bool
    """Whether a vendor was asked; the closed world bills nobody."""


class Spent(Record):
    """What all attempts at a piece of work have sent."""

    requests: int = 0
    """To services, the closed world included."""
    charges: tuple[Charge, ...] = ()
    """Those that a vendor bills, one for each episode, tool and meter."""

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(requests=self.requests + other.requests, charges=(*self.charges, *other.charges))


def policy_meter(name: str) -> str:
    """The meter of a policy, or of another language model, such as one that looks for the tools."""
    return f"{_POLICY}{name}"


def policy_usage(policy: str, *, turns: int, read: int, written: int) -> Usage:
    """What a policy used, tokens."""
    return Usage(meter=policy_meter(policy), calls=turns, units=read, output_units=written)


def summed(usages: Iterable[Usage]) -> tuple[Usage, ...]:
    """One entry for each meter, sorted by it."""
    totals: dict[str, Usage] = {}
    for item in usages:
        known = totals.get(item.meter, Usage(meter=item.meter))
        totals[item.meter] = Usage(
            meter=item.meter,
            calls=known.calls + item.calls,
            units=known.units + item.units,
            output_units=known.output_units + item.output_units,
        )
    return tuple(totals[meter] for meter in sorted(totals))
