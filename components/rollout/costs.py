"""What episodes cost, by tool and by episode, at the prices of a day.

*List* money is what the calls of an episode take at list prices, whoever answers: the closed world and recordings too.
*Spent* money is what vendors want for what was really sent, failed attempts included: nothing in the closed world.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from components.config.tools import PriceParams
from components.records.base import Record
from components.records.episode import Episode, StepKind
from components.records.usage import START_CHECK, Charge, Spent, policy_usage
from components.rollout.spending import POLICY
from components.tools.prices import price, total_price


class CostRow(Record):
    """What something cost."""

    calls: int = 0
    """Tool calls; of the policy its turns."""
    failed: int = 0
    """Calls whose observation is an error; of the policy the turns that were refused."""
    requests: int = 0
    """What the calls ask services, each request once."""
    seconds: float = 0.0
    """In tools."""
    tokens_in: int = 0
    """Read by the policy."""
    tokens_out: int = 0
    """Written by it."""
    list_usd: float = 0.0
    spent_usd: float = 0.0

    def __add__(self, other: "CostRow") -> "CostRow":
        mine, more = self.model_dump(), other.model_dump()
        return CostRow(**{name: value + more[name] for name, value in mine.items()})


class CostTable(Record):
    """What a set of episodes cost."""

    prices_as_of: str
    sent: int
    """Requests that were really sent, in all attempts."""
    tools: dict[str, CostRow]
    """By tool; the policy's own row is `policy`."""
    episodes: dict[str, CostRow]
    """By episode id, calls without turns."""
    total: CostRow
    """Calls without turns; what was spent on trying a server out is in it too."""


def cost_table(episodes: Sequence[Episode], spent: Spent, prices: PriceParams) -> CostTable:
    """The table; `spent` may name episodes that are not there, since their attempts failed."""
    tools: defaultdict[str, CostRow] = defaultdict(CostRow)
    by_episode: defaultdict[str, CostRow] = defaultdict(CostRow)
    for episode_id, tool, row in (*_rows_of(episodes, prices), *_charged(spent.charges, prices)):
        tools[tool] += row
        by_episode[episode_id] += _without_turns(row) if tool == POLICY else row
    return CostTable(
        prices_as_of=prices.as_of,
        sent=spent.requests,
        tools=dict(sorted(tools.items(), key=lambda item: (item[0] == POLICY, item[0]))),
        episodes={name: row for name, row in sorted(by_episode.items()) if name != START_CHECK},
        total=sum(by_episode.values(), CostRow()),
    )


def joined(tables: Iterable[CostTable]) -> CostTable:
    """Tables of different episodes at the same prices as one."""
    found = list(tables)
    tools: defaultdict[str, CostRow] = defaultdict(CostRow)
    for tool, row in (item for table in found for item in table.tools.items()):
        tools[tool] += row
    return CostTable(
        prices_as_of=found[0].prices_as_of,
        sent=sum(table.sent for table in found),
        tools=dict(tools),
        episodes={name: row for table in found for name, row in table.episodes.items()},
        total=sum((table.total for table in found), CostRow()),
    )


def cost_metrics(table: CostTable, stage: str) -> dict[str, float]:
    """The table as metrics, `cost/<stage>/..`; of single episodes mean and maximum."""
    numbers = _numbers(table.total) | {"sent": float(table.sent)}
    for tool, row in table.tools.items():
        numbers |= {f"{tool}/{name}": value for name, value in _numbers(row).items() if value}
    if table.episodes:
        each = [row.list_usd for row in table.episodes.values()]
        numbers |= {"episode/list_usd_mean": sum(each) / len(each), "episode/list_usd_max": max(each)}
    return {f"cost/{stage}/{name}": value for name, value in numbers.items()}


def in_words(table: CostTable) -> str:
    """One line for a reader."""
    total = table.total
    spent = f"{total.spent_usd:.5f} USD spent" if total.spent_usd else "nothing spent"
    return (
        f"{total.requests} requests, {total.tokens_in} tokens read and {total.tokens_out} written, {spent}, "
        f"{total.list_usd:.5f} USD at list prices of {table.prices_as_of}"
    )


def _rows_of(episodes: Iterable[Episode], prices: PriceParams) -> Iterator[tuple[str, str, CostRow]]:
    for episode in episodes:
        for seen in episode.observations:
            row = CostRow(
                calls=1,
                failed=int(not seen.succeeded),
                requests=sum(used.calls for used in seen.usage),
                seconds=seen.duration_s,
                list_usd=total_price(seen.usage, prices),
            )
            yield episode.episode_id, seen.tool, row
        yield episode.episode_id, POLICY, _turns_of(episode, prices)


def _turns_of(episode: Episode, prices: PriceParams) -> CostRow:
    read = sum(step.turn.prompt_tokens for step in episode.steps)
    written = sum(step.turn.output_tokens for step in episode.steps)
    used = policy_usage(episode.policy, turns=len(episode.steps), read=read, written=written)
    return CostRow(
        calls=len(episode.steps),
        failed=sum(step.kind is StepKind.CORRECTION for step in episode.steps),
        tokens_in=read,
        tokens_out=written,
        list_usd=price(used, prices),
    )


def _charged(charges: Iterable[Charge], prices: PriceParams) -> Iterator[tuple[str, str, CostRow]]:
    for charge in charges:
        yield charge.episode_id, charge.tool, CostRow(spent_usd=price(charge.usage, prices))


def _without_turns(row: CostRow) -> CostRow:
    return row.model_copy(update={"calls": 0, "failed": 0})


def _numbers(row: CostRow) -> dict[str, float]:
    return {name: float(value) for name, value in row.model_dump().items()}
