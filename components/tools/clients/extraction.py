"""Reading pages in processes of their own, which may die, hang or eat memory without taking a run along.

A small pool on asyncio's own subprocesses: each is a fresh interpreter (nothing of this process is forked), reads one
page at a time, and is replaced when a page was too much for it. `pages/worker.py` is the other side.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import components
from components.tools.clients.addresses import SERVICE
from components.tools.clients.errors import ServiceError
from components.tools.clients.fetch import Fetched
from components.tools.pages.record import MOST_CHARS, Answer, PageText
from components.tools.pages.worker import LENGTH, READY

_START_S = 60.0
"""Seconds in which a process must be ready; the machine may be busy."""
_STOP_S = 2.0
_MOST_BYTES = 8 * MOST_CHARS
"""Of an answer, which is bounded on the other side too."""


@dataclass(frozen=True)
class ExtractionLimits:
    """What reading one page may cost."""

    seconds: float = 10.0
    memory_bytes: int = 1 << 29
    """Address space of a process."""
    pages: int = 2000
    """Pages that one process reads before it is replaced, because parsers keep what they have seen."""


class Unreadable(ServiceError):
    """A page that was too much for the process that read it."""

    def __init__(self, reason: str) -> None:
        super().__init__(SERVICE, reason)


class _Worker:
    """One process."""

    def __init__(self, process: asyncio.subprocess.Process, limits: ExtractionLimits) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._in, self._out = process, process.stdin, process.stdout
        self._limits = limits
        self._pages = 0

    @classmethod
    async def start(cls, limits: ExtractionLimits) -> Self:
        arguments = (str(limits.memory_bytes), str(max(1, round(limits.seconds))))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "components.tools.pages.worker", *arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env=_environment(), start_new_session=True,
        )  # fmt: skip
        worker = cls(process, limits)
        try:
            async with asyncio.timeout(_START_S):
                if await worker._take() != READY:
                    raise Unreadable("the reading process does not start")
        except (TimeoutError, EOFError, OSError) as error:
            await worker.kill()
            raise Unreadable("the reading process does not start") from error
        except BaseException:
            await worker.kill()
            raise
        return worker

    @property
    def usable(self) -> bool:
        return self._process.returncode is None and self._pages < self._limits.pages

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, page: Fetched) -> bytes:
        """The answer about a page; raises Unreadable, and then the process is not to be used any more."""
        self._pages += 1
        plain = page.media_type == "text/plain"
        about = json.dumps({"charset": page.charset, "url": page.url, "plain": plain}).encode()
        try:
            async with asyncio.timeout(self._limits.seconds):
                for part in (about, page.body):
                    self._in.write(LENGTH.pack(len(part)))
                    self._in.write(part)
                await self._in.drain()
                return await self._take()
        except TimeoutError as error:
            raise Unreadable(f"the page could not be read within {self._limits.seconds:g} s") from error
        except (EOFError, OSError) as error:
            raise Unreadable("the page ended the process that read it") from error

    async def _take(self) -> bytes:
        (length,) = LENGTH.unpack(await self._out.readexactly(LENGTH.size))
        if length > _MOST_BYTES:
            raise Unreadable("a text beyond all bounds")
        return await self._out.readexactly(length)

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        self._in.close()
        await self._process.wait()

    async def stop(self) -> None:
        """Let it end by itself, and make it end otherwise."""
        self._in.close()
        try:
            async with asyncio.timeout(_STOP_S):
                await self._process.wait()
        except TimeoutError:
            await self.kill()


class ExtractionPool:
    """Reads pages, a few at once; closing it ends every process.

    Args:
        workers: processes at most; each is started when it is first needed.
        limits: of one page.

    """

    def __init__(self, workers: int | None = None, limits: ExtractionLimits | None = None) -> None:
        self._limits = limits or ExtractionLimits()
        self._slots = asyncio.Semaphore(workers or min(4, os.cpu_count() or 1))
        self._idle: list[_Worker] = []
        self._living: set[_Worker] = set()
        self.started = 0
        """Processes started so far."""

    async def __aenter__(self) -> Self:
        """Enter; no process is started before the first page."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every process."""
        await self.close()

    @property
    def pids(self) -> list[int]:
        """Of the processes that live."""
        return sorted(worker.pid for worker in self._living)

    async def read(self, page: Fetched) -> PageText:
        """What a page says.

        Raises:
            Unreadable: reading it took too long, too much memory, or crashed.

        """
        async with self._slots:
            worker = await self._ready()
            try:
                answer = _parsed(await worker.ask(page))
            except BaseException:
                # Whatever ended the exchange, cancelling included, the process is in the middle of something.
                await self._end(worker, worker.kill())
                raise
            if answer.spent:
                await self._end(worker, worker.stop())
            else:
                self._idle.append(worker)
        if answer.text is None:
            raise Unreadable(f"the page cannot be read ({answer.failure[:40]})")
        return answer.text

    async def close(self) -> None:
        """End every process."""
        self._idle.clear()
        await asyncio.gather(*(worker.stop() for worker in self._living))
        self._living.clear()

    async def _ready(self) -> _Worker:
        """A process that waits for a page; one that died meanwhile, or has read enough, is replaced."""
        while self._idle:
            worker = self._idle.pop()
            if worker.usable:
                return worker
            await self._end(worker, worker.stop())
        worker = await _Worker.start(self._limits)
        self.started += 1
        self._living.add(worker)
        return worker

    async def _end(self, worker: _Worker, ending: Awaitable[None]) -> None:
        self._living.discard(worker)
        await ending


def _parsed(answer: bytes) -> Answer:
    """Raises Unreadable for what is no answer."""
    try:
        return Answer.model_validate_json(answer)
    except ValueError as error:
        raise Unreadable("the reading process answered in another form") from error


def _environment() -> dict[str, str]:
    """What the process is told of this one: where the code lies, and no keys."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "LANG") if name in os.environ}
    return {**kept, "PYTHONPATH": str(Path(components.__file__).parents[1]), "PYTHONHASHSEED": "0"}
