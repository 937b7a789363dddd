"""Processes that read pages: what kills one kills nothing else."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from components.tools.clients.extraction import ExtractionLimits, ExtractionPool, Unreadable
from components.tools.clients.fetch import Fetched

T = TypeVar("T")
ROOT = Path(__file__).parents[3]
GOOD = (
    b"<html><head><title>Gala</title></head><body><article><p>The gala was at Rowan Hall.</p></article></body></html>"
)
SLOW = b"<html><body><p>" + b"<span>a</span>" * 400_000
"""Takes its reader longer than any limit here."""


def page(body: bytes, kind: str = "text/html") -> Fetched:
    return Fetched("https://a.example/", 200, kind, "", body)


def run(use: Callable[[ExtractionPool], Awaitable[T]], workers: int = 1, **limits: float) -> T:
    async def go() -> T:
        async with ExtractionPool(workers, ExtractionLimits(**limits)) as pool:  # type: ignore[arg-type]
            return await use(pool)

    return asyncio.run(go())


async def reads(pool: ExtractionPool) -> None:
    """Whether the pool still does its work."""
    text = await pool.read(page(GOOD))
    assert (text.title, text.markdown) == ("Gala", "The gala was at Rowan Hall.")


def test_a_process_reads_one_page_after_the_other() -> None:
    async def use(pool: ExtractionPool) -> int:
        for _ in range(5):
            await reads(pool)
        return pool.started

    assert run(use) == 1


def test_a_process_is_not_charged_with_the_memory_of_whoever_started_it() -> None:
    ballast = bytearray(b"x") * (400 * 2**20)

    async def use(pool: ExtractionPool) -> int:
        for _ in range(3):
            await reads(pool)
        return pool.started

    assert run(use) == 1
    assert ballast


def test_as_many_processes_as_there_are_pages_at_once_and_no_more() -> None:
    async def use(pool: ExtractionPool) -> int:
        await asyncio.gather(*(reads(pool) for _ in range(8)))
        return pool.started

    assert run(use, workers=2) == 2


def test_a_page_that_hangs_is_given_up_in_time() -> None:
    async def use(pool: ExtractionPool) -> float:
        await reads(pool)
        started = time.monotonic()
        with pytest.raises(Unreadable, match="within 1 s"):
            await pool.read(page(SLOW))
        taken = time.monotonic() - started
        await reads(pool)
        return taken

    assert 1 <= run(use, seconds=1) < 4


def test_a_page_that_eats_memory_is_given_up() -> None:
    async def use(pool: ExtractionPool) -> None:
        with pytest.raises(Unreadable, match="MemoryError"):
            await pool.read(page(b"<html><body>" + b"<p a=1>x</p>" * 500_000))
        await reads(pool)
        assert pool.started == 2

    run(use, memory_bytes=120 * 2**20, seconds=60)


def test_a_crash_is_the_pages_alone() -> None:
    async def use(pool: ExtractionPool) -> None:
        await reads(pool)
        doomed = asyncio.create_task(pool.read(page(SLOW)))
        await asyncio.sleep(0.3)
        os.kill(pool.pids[0], signal.SIGSEGV)
        with pytest.raises(Unreadable, match="ended the process"):
            await doomed
        await reads(pool)

    run(use, seconds=60)


def test_a_process_that_died_while_it_waited_costs_no_page() -> None:
    async def use(pool: ExtractionPool) -> None:
        await reads(pool)
        os.kill(pool.pids[0], signal.SIGKILL)
        await asyncio.sleep(0.5)
        await reads(pool)
        assert pool.started == 2

    run(use)


def test_who_gives_up_a_page_leaves_no_process_half_way() -> None:
    async def use(pool: ExtractionPool) -> None:
        await reads(pool)
        (pid,) = pool.pids
        task = asyncio.create_task(pool.read(page(SLOW)))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not psutil.pid_exists(pid)
        await reads(pool)

    run(use, seconds=60)


def test_a_process_is_replaced_when_it_has_read_enough() -> None:
    async def use(pool: ExtractionPool) -> int:
        for _ in range(5):
            await reads(pool)
        assert len(pool.pids) == 1
        return pool.started

    assert run(use, pages=2) == 3


def test_nothing_is_left_behind() -> None:
    async def use(pool: ExtractionPool) -> list[int]:
        await asyncio.gather(*(reads(pool) for _ in range(4)))
        return pool.pids

    before = len(psutil.Process().children(recursive=True)), psutil.Process().num_fds()
    pids = run(use, workers=2)
    assert not [pid for pid in pids if psutil.pid_exists(pid)]
    for _ in range(3):
        run(use, workers=2)
    after = len(psutil.Process().children(recursive=True)), psutil.Process().num_fds()
    assert after[0] == before[0]
    assert after[1] <= before[1] + 2


def test_a_busy_process_ends_with_its_pool() -> None:
    async def use() -> int:
        async with ExtractionPool(1, ExtractionLimits(seconds=60)) as pool:
            await reads(pool)
            (pid,) = pool.pids
            task = asyncio.create_task(pool.read(page(SLOW)))
            await asyncio.sleep(0.3)
        with pytest.raises(Unreadable):
            await task
        return pid

    assert not psutil.pid_exists(asyncio.run(use()))


def test_the_processes_end_when_whoever_started_them_is_killed() -> None:
    program = """
import asyncio, os, sys
from components.tools.clients.extraction import ExtractionPool
from components.tools.clients.fetch import Fetched

async def main():
    pool = ExtractionPool(1)
    await pool.read(Fetched("https://a.example/", 200, "text/html", "", b"<html><p>x</p></html>"))
    print(pool.pids[0], flush=True)
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 20
    while psutil.pid_exists(int(done.stdout)):
        assert time.monotonic() < deadline, "the process lives on"
        time.sleep(0.05)


def test_the_process_knows_no_keys_and_may_write_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "do-not-tell")

    async def use(pool: ExtractionPool) -> tuple[str, str]:
        await reads(pool)
        folder = Path(f"/proc/{pool.pids[0]}")
        return (folder / "environ").read_text(), (folder / "limits").read_text()

    environment, limits = run(use)
    assert "do-not-tell" not in environment
    rows = {line[:25].strip(): line[25:].split()[0] for line in limits.splitlines()}
    assert rows["Max file size"] == rows["Max core file size"] == "0"
    assert rows["Max address space"] == str(ExtractionLimits().memory_bytes)


def test_plain_text_stays_as_it_is() -> None:
    async def use(pool: ExtractionPool) -> str:
        return (await pool.read(page(b"a < b\n\nand <p> too", "text/plain"))).markdown

    assert run(use) == "a < b\n\nand <p> too"
