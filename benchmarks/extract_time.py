"""What it costs to read pages in processes of their own instead of in this one.

Pages of a small closed world, and the same made long, are read in this process and by a pool of one and of several
processes; the ways take turns, so that other work on the machine falls on all. CPU-seconds are those of this process
and the reading ones together, without their start, which is told by itself.

.venv/bin/python -m benchmarks.extract_time --pages 1000 --rounds 3
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import psutil

from components.config.schema import WorldParams
from components.tools.clients.extraction import ExtractionPool
from components.tools.clients.fetch import Fetched
from components.tools.pages.text import read_page
from components.world.facts import build_facts
from components.world.pages import build_pages

LONG = 40
"""How often the text of a long page is repeated."""


class Cost(NamedTuple):
    """What reading all pages took."""

    seconds: float
    cpu: float


def world_pages(count: int, times: int) -> list[Fetched]:
    facts = build_facts(WorldParams(seed=107, train_events=40, test_events=12))
    pages = []
    for page in build_pages(facts):
        head, _, rest = page.html.partition("</h1>")
        text, _, tail = rest.partition("</article>")
        body = f"{head}</h1>{text * times}</article>{tail}".encode()
        pages.append(Fetched(page.url, 200, "text/html", "utf-8", body))
    return (pages * (count // len(pages) + 1))[:count]


async def here(pages: Sequence[Fetched]) -> None:
    for page in pages:
        read_page(page.body, page.charset, page.url)


def pooled(pool: ExtractionPool) -> Callable[[Sequence[Fetched]], Awaitable[None]]:
    async def read(pages: Sequence[Fetched]) -> None:
        await asyncio.gather(*(pool.read(page) for page in pages))

    return read


def cpu() -> float:
    """CPU-seconds of this process and of those it started that live."""
    family = [psutil.Process(), *psutil.Process().children()]
    return sum(sum(process.cpu_times()[:2]) for process in family)


async def cost_of(read: Callable[[Sequence[Fetched]], Awaitable[None]], pages: Sequence[Fetched]) -> Cost:
    started, used = time.perf_counter(), cpu()
    await read(pages)
    return Cost(time.perf_counter() - started, cpu() - used)


async def measure(pages: Sequence[Fetched], rounds: int, workers: int) -> None:
    size = sum(len(page.body) for page in pages) / len(pages) / 1000
    print(f"{len(pages)} pages of {size:.1f} KB")
    async with ExtractionPool(1) as one, ExtractionPool(workers) as several:
        ways = {"in this process": here, "one process": pooled(one), f"{workers} processes": pooled(several)}
        for name, read in ways.items():
            start = await cost_of(read, pages[:workers])
            print(f"{name:18} first pages {start.seconds:6.2f} s")
        costs: dict[str, list[Cost]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, read in ways.items():
                costs[name].append(await cost_of(read, pages))
    base = Cost(*map(statistics.median, zip(*costs["in this process"], strict=True)))
    for name, found in costs.items():
        middle = Cost(*map(statistics.median, zip(*found, strict=True)))
        print(
            f"{name:18}{len(pages) / middle.seconds:8.0f} pages/s{middle.cpu / len(pages) * 1000:8.2f} ms CPU a page"
            f"{middle.cpu / base.cpu:8.2f} times the CPU{base.seconds / middle.seconds:7.2f} times the speed"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    options = parser.parse_args()
    for times in (1, LONG):
        asyncio.run(measure(world_pages(options.pages, times), options.rounds, options.workers))


if __name__ == "__main__":
    main()
