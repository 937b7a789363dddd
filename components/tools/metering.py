"""Where usage is measured: what a call takes of services, and what is really sent on its behalf.

The two differ. A recording answers without sending, a broken service is asked again, and a picture that two
investigations look at is uploaded once. What a call takes is the same each time it is made; what was sent is what costs
money.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from components.records.usage import Usage, summed

if TYPE_CHECKING:
    from components.tools.clients.http import Answer


@dataclass(frozen=True)
class Tariff:
    """What a service bills for a request."""

    meter: str
    """A `Meter`, or that of a language model."""
    usual: int
    """Units of an answer; an answer that never came is charged as so many, since it may have been given."""
    read: "Callable[[Answer], int | None] | None" = None
    """Units of an answer that says so itself, else None."""
    written: "Callable[[Answer], int | None] | None" = None
    """Tokens that a language model wrote; its units are those that it read."""
    shared: bool = False
    """Whether calls may share a request, or one may take several; then each counts it by itself, with `counted`."""

    def units(self, answer: "Answer") -> int:
        """What an answer that is none of failure is billed with."""
        told = self.read(answer) if self.read else None
        return self.usual if told is None else told

    def output_units(self, answer: "Answer") -> int:
        """Tokens that a language model wrote; nought for a service."""
        return (self.written(answer) if self.written else None) or 0


class Account(Protocol):
    """Whoever keeps what was really sent."""

    def charge(self, tool: str, usage: Usage, *, billed: bool) -> None:
        """Keep a charge, or take one back where it is below nought; on disk before this returns."""
        ...


class Tally:
    """What the calls inside a block take."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self._used: list[Usage] = []

    def add(self, usage: Usage) -> None:
        """Count one more."""
        self._used.append(usage)

    @property
    def usage(self) -> tuple[Usage, ...]:
        """All of it, one entry for each meter."""
        return summed(self._used)


_TALLY: ContextVar[Tally | None] = ContextVar("tally", default=None)
_ACCOUNT: ContextVar[Account | None] = ContextVar("account", default=None)


@contextmanager
def tallied(tool: str) -> Iterator[Tally]:
    """Count what the requests inside the block take, in the name of a tool."""
    tally = Tally(tool)
    token = _TALLY.set(tally)
    try:
        yield tally
    finally:
        _TALLY.reset(token)


@contextmanager
def charged_to(account: Account | None) -> Iterator[None]:
    """Charge what is sent inside the block to an account."""
    token = _ACCOUNT.set(account)
    try:
        yield
    finally:
        _ACCOUNT.reset(token)


@dataclass
class Call:
    """One request of a call, however often it is sent."""

    units: int = 0
    """What it is billed with; nought until it has its answer."""
    output_units: int = 0


@contextmanager
def counted(tariff: Tariff | None) -> Iterator[Call]:
    """Count the request that the block makes, whether it has an answer or none."""
    call = Call()
    try:
        yield call
    finally:
        tally = _TALLY.get()
        if tally is not None and tariff is not None:
            tally.add(Usage(meter=tariff.meter, calls=1, units=call.units, output_units=call.output_units))


class Bill:
    """What one attempt is charged with: from the moment before it is sent, so that no kill forgets it.

    Use it as a context for the attempt. An answer that is a failure is free.
    """

    def __init__(self, tariff: Tariff | None) -> None:
        tally = _TALLY.get()
        self._tariff = tariff
        self._account = _ACCOUNT.get()
        self._tool = tally.tool if tally else ""
        self._billed = False
        self._charged: int | None = None
        self.answered = False
        """Set when the whole answer is there, whatever it says."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and self.answered:
            self._correct(0)

    def sent(self, *, billed: bool) -> None:
        """The request leaves now; `billed` says whether to a vendor. One that was redirected leaves once."""
        if self._tariff is not None and self._charged is None:
            self._billed = billed
            self._charge(1, self._tariff.usual)

    def unsent(self) -> None:
        """There was no connection, so nothing has left."""
        if self._charged is not None:
            self._charge(-1, -self._charged)
            self._charged = None

    def settle(self, answer: "Answer") -> None:
        """An answer came that is none of failure."""
        if self._tariff is not None:
            self._correct(self._tariff.units(answer), self._tariff.output_units(answer))

    def _correct(self, units: int, output_units: int = 0) -> None:
        if self._charged is not None and (units != self._charged or output_units):
            self._charge(0, units - self._charged, output_units)

    def _charge(self, calls: int, units: int, output_units: int = 0) -> None:
        assert self._tariff is not None, "nothing is charged without a tariff"
        self._charged = (self._charged or 0) + units
        if self._account is not None:
            usage = Usage(meter=self._tariff.meter, calls=calls, units=units, output_units=output_units)
            self._account.charge(self._tool, usage, billed=self._billed)
