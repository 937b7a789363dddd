"""How a policy is asked: one conversation at a time or in batches, and whose fault it is when it fails."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from components.errors import EviflowError
from components.records.conversation import AsyncPolicy, Conversation, Policy
from components.records.episode import Turn
from components.tools.clients.errors import Quarantined

BATCHES = 2
"""Into which the investigations of a policy that computes are dealt: one's tools run while the other is answered."""


class Asker(NamedTuple):
    """A policy that is ready to be asked."""

    lanes: int
    """Groups of investigations that go on independently of one another."""
    width: int
    """Investigations of a group, which are answered together."""
    ask: Callable[[Sequence[Conversation]], Awaitable[list[Turn | Exception]]]
    """A turn for each conversation, or the error that it alone is to blame for."""


@asynccontextmanager
async def asking(policy: Policy, concurrency: int) -> AsyncIterator[Asker]:
    """Ask `policy` for as long as the block runs.

    A policy that waits for a server, or takes no time, answers each investigation by itself. One that computes answers
    batches; which conversations share a batch follows from the jobs alone and not from how long anything took, so that
    rounding, which depends on the batch, is the same in every run.
    """
    if isinstance(policy, AsyncPolicy):
        async with policy.session() as answer:
            yield Asker(concurrency, 1, lambda conversations: _await_each(answer, conversations))
    elif policy.quick:
        yield Asker(concurrency, 1, lambda conversations: _halve(policy, conversations, None))
    else:
        lanes, turn = min(BATCHES, concurrency), asyncio.Lock()
        yield Asker(lanes, -(-concurrency // lanes), lambda conversations: _halve(policy, conversations, turn))


async def _await_each(
    answer: Callable[[Conversation], Awaitable[Turn]], conversations: Sequence[Conversation]
) -> list[Turn | Exception]:
    found = await asyncio.gather(*map(answer, conversations), return_exceptions=True)
    for turn in found:
        if isinstance(turn, BaseException) and not isinstance(turn, Exception):
            raise turn
    return [turn for turn in found if isinstance(turn, Turn | Exception)]


async def _halve(
    policy: Policy, conversations: Sequence[Conversation], turn: asyncio.Lock | None
) -> list[Turn | Exception]:
    """Ask for a batch; where it fails, ask for its halves, down to the conversation that breaks it."""
    try:
        turns = await _act(policy, conversations, turn)
    except Exception as error:  # attributed below
        if len(conversations) == 1:
            return [error]
        middle = len(conversations) // 2
        first, second = conversations[:middle], conversations[middle:]
        return [*await _halve(policy, first, turn), *await _halve(policy, second, turn)]
    if len(turns) != len(conversations):
        raise EviflowError(f"policy {policy.name} gave {len(turns)} turns for {len(conversations)} conversations")
    return list(turns)


async def _act(policy: Policy, conversations: Sequence[Conversation], turn: asyncio.Lock | None) -> list[Turn]:
    if turn is None:
        return policy.act(conversations)
    async with turn:
        return await asyncio.to_thread(policy.act, conversations)


class Blame:
    """Whose fault a failed turn is: the conversation's while others are answered, the policy's when none is.

    A failure waits until a request that was begun after it has been answered; then the policy works, and the failure
    counts against its own investigation. When every investigation in flight waits like that, the policy is down: the
    rollout ends, and no attempt is used up by an outage. Of one that is alone in flight nobody can tell; it is tried
    again, so that the last one comes to an end, and the policy is down when the next one fails as well.

    Args:
        policy: its name.
        live: how many investigations are in flight.

    """

    def __init__(self, policy: str, live: Callable[[], int]) -> None:
        self._policy = policy
        self._live = live
        self._waiting: list[_Failure] = []
        self._alone: str | None = None

    async def settle(self, begun: float, turns: Sequence[Turn | Exception], first: str) -> None:
        """Return once it is clear that those of `turns` that failed did so by themselves.

        Args:
            begun: when they were asked for, on the event loop's clock.
            turns: as they came.
            first: the episode that the first of them is of.

        Raises:
            EviflowError: the policy fails for everybody.

        """
        # A reply that may not be used came from a policy that works.
        failed = [turn for turn in turns if isinstance(turn, Exception) and not isinstance(turn, Quarantined)]
        if len(failed) < len(turns):
            self._alone = None
            self._release(lambda failure: failure.at <= begun)
            return
        loop = asyncio.get_running_loop()
        failure = _Failure(loop.time(), failed, first, loop.create_future())
        self._waiting.append(failure)
        self.look()
        await failure.known

    def look(self) -> None:
        """Look whether anybody is left whose turn can tell; called whenever an investigation has ended.

        Raises:
            EviflowError: the policy fails for everybody.

        """
        errors = [error for failure in self._waiting for error in failure.errors]
        if not errors or len(errors) < self._live():
            return
        alone = self._waiting[0].episode if len(errors) == 1 else None
        if alone is not None and self._alone in (None, alone):
            self._alone = alone
            self._release(lambda failure: True)
            return
        first, count = errors[0], len(errors) + (alone is not None)
        raise EviflowError(
            f"policy {self._policy} failed on all {count} conversations, first with {type(first).__name__}: {first}"
        ) from first

    def _release(self, known: "Callable[[_Failure], bool]") -> None:
        for failure in [failure for failure in self._waiting if known(failure)]:
            self._waiting.remove(failure)
            failure.known.set_result(None)


class _Failure(NamedTuple):
    at: float
    errors: Sequence[Exception]
    episode: str
    known: asyncio.Future[None]
