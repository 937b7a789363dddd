"""What a rollout has really sent, on disk before it leaves: neither a kill nor a failed attempt makes it forgotten."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from components.config.tools import PriceParams
from components.records.episode import Turn
from components.records.usage import START_CHECK, Charge, Spent, Usage, policy_usage, summed
from components.storage.ledger import Ledger
from components.tools.clients.completions import tokens_of
from components.tools.clients.errors import Quarantined
from components.tools.prices import model_price, price

LEDGER = "spending.jsonl"
"""In the folder of unfinished work."""
SPENT = "spent.json"
"""Beside finished episodes."""
POLICY = "policy"
"""What stands for a tool where a policy is charged."""


class Spending:
    """The charges of one rollout, those of earlier runs included.

    Args:
        prices: what units cost.
        path: the ledger; None keeps no file.
        before: what other rollouts under the same budget have spent.
        beside: ledgers of the same rollout, which other processes may be writing.

    """

    def __init__(
        self,
        prices: PriceParams,
        path: Path | None = None,
        before: Spent | None = None,
        beside: Sequence[Path] = (),
    ) -> None:
        self._prices = prices
        self._ledger = Ledger(path) if path else None
        self._beside: dict[Ledger, int] = {}
        self.before = before or Spent()
        """By others."""
        self._billed: list[Charge] = []
        self.requests = self.before.requests
        """To services, so far."""
        self.usd = sum(price(charge.usage, prices) for charge in self.before.charges)
        """What vendors want for them, and for the turns of a policy that has a price."""
        self.requests_of: defaultdict[str, float] = defaultdict(float)
        """By the id of an episode of this rollout, failed attempts included."""
        self.usd_of: defaultdict[str, float] = defaultdict(float)
        for record in self._ledger.read() if self._ledger else ():
            self._add(Charge.model_validate(record))
        self.look_at(beside)

    def look_at(self, others: Iterable[Path]) -> None:
        """Count what other processes have noted in these ledgers, and what they are going to."""
        self._beside |= {Ledger(other): 0 for other in others}
        self.look()

    def look(self) -> None:
        """Take up what other processes have spent since the last look."""
        for ledger, seen in self._beside.items():
            for span, record in ledger.read_from(seen):
                self._add(Charge.model_validate(record))
                self._beside[ledger] = span.end

    @property
    def spent(self) -> Spent:
        """What this rollout has sent, without what was spent before."""
        return Spent(requests=self.requests - self.before.requests, charges=merged(self._billed))

    def charge(self, charge: Charge) -> None:
        """Keep a charge. Where money is spent it is synced to disk before this returns."""
        if self._ledger is not None:
            self._ledger.append(charge, durable=charge.billed)
        self._add(charge)

    def charge_turn(self, episode_id: str, policy: str, turn: Turn | Exception) -> None:
        """Keep the tokens of a policy that has a price; a reply that may not be used is billed like any other."""
        if isinstance(turn, Quarantined):
            read, written = tokens_of(turn.reply)
        elif isinstance(turn, Turn):
            read, written = turn.prompt_tokens, turn.output_tokens
        else:
            return
        if model_price(policy, self._prices) is not None:
            used = policy_usage(policy, turns=1, read=read, written=written)
            self.charge(Charge(episode_id=episode_id, tool=POLICY, usage=used, billed=True))

    def account(self, episode_id: str) -> "EpisodeAccount":
        """The account of one investigation."""
        return EpisodeAccount(self, episode_id)

    def _add(self, charge: Charge) -> None:
        calls = charge.usage.calls if charge.tool != POLICY else 0
        cost = price(charge.usage, self._prices) if charge.billed else 0.0
        self.requests += calls
        self.usd += cost
        if charge.billed:
            self._billed.append(charge)
        # Trying a server out adds up over restarts, and says nothing of what an episode takes.
        if charge.episode_id != START_CHECK:
            self.requests_of[charge.episode_id] += calls
            self.usd_of[charge.episode_id] += cost


class EpisodeAccount:
    """Charges one investigation."""

    def __init__(self, spending: Spending, episode_id: str) -> None:
        self._spending = spending
        self._episode_id = episode_id

    def charge(self, tool: str, usage: Usage, *, billed: bool) -> None:
        """Keep a charge for what a tool has sent."""
        self._spending.charge(Charge(episode_id=self._episode_id, tool=tool, usage=usage, billed=billed))


def worker_ledgers(folder: Path) -> list[Path]:
    """The ledgers that workers have kept in a folder of unfinished work, whoever goes on with it now."""
    return sorted(folder.glob(f"*/{LEDGER}"))


def read_spent(folder: Path) -> Spent:
    """What the episodes in a folder took; nothing for episodes from before it was kept."""
    path = folder / SPENT
    return Spent.model_validate_json(path.read_bytes()) if path.exists() else Spent()


def merged(charges: Iterable[Charge]) -> tuple[Charge, ...]:
    """One charge for each episode, tool and meter; what was taken back is gone."""
    used: dict[tuple[str, str, bool], list[Usage]] = {}
    for charge in charges:
        used.setdefault((charge.episode_id, charge.tool, charge.billed), []).append(charge.usage)
    return tuple(
        Charge(episode_id=episode_id, tool=tool, usage=usage, billed=billed)
        for (episode_id, tool, billed), items in sorted(used.items())
        for usage in summed(items)
        if usage.calls or usage.units or usage.output_units
    )
