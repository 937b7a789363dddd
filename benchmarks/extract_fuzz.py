"""Whether reading pages survives what a web server can do to it: 10,000 requests to one that is hostile.

The pages are damaged, misdeclared, packed, nested and endless ones that a server on loopback makes up by seed
(`tests/hostile_web.py`, in a process of its own). Each is fetched and read as a run would do it, under tighter limits,
so that limits are met. Counts what came of them by kind; fails when anything but the reader's own errors comes out,
when a request takes longer than its limits allow, or when memory grows beyond its bound.

.venv/bin/python -m benchmarks.extract_fuzz --pages 10000
"""

import argparse
import asyncio
import logging
import random
import resource
import sys
import time
from collections import Counter

from components.tools.clients.direct import DirectReader
from components.tools.clients.errors import NotThere, OffLimits, ServiceError
from components.tools.clients.extraction import ExtractionLimits, ExtractionPool
from components.tools.clients.fetch import FetchLimits, PageFetcher
from components.tools.clients.guard import GuardedTransport
from components.tools.clients.http import ATTEMPTS
from tests.hostile_web import hostile_web

WEIGHTS = {
    "mutated": 6400, "misread": 1000, "noise": 500, "packed": 400, "nested": 300, "redirect": 300, "broken": 300,
    "crowded": 200, "torn": 100, "status": 100, "typed": 100, "coded": 50, "headers": 50, "bomb": 50, "raw bomb": 50,
    "huge": 30, "declared": 30, "endless": 30, "drip": 10,
}  # fmt: skip
"""Of 10,000."""
FETCH = FetchLimits(timeout_s=4.0, body_bytes=4 * 2**20)
EXTRACT = ExtractionLimits(seconds=4.0, memory_bytes=384 * 2**20)
QUEUE_S = 120.0
"""Longest wait for a process, on a machine that is busy."""
PARENT_MB = 400


def plan(pages: int, seed: int) -> list[tuple[str, int]]:
    """Kind and seed of every request, in random order."""
    total = sum(WEIGHTS.values())
    wanted = [(kind, at) for kind, weight in WEIGHTS.items() for at in range(max(1, round(weight * pages / total)))]
    random.Random(seed).shuffle(wanted)
    return [(kind, seed * 1_000_000 + at) for kind, at in wanted]


async def outcome_of(reader: DirectReader, url: str) -> str:
    try:
        page = await reader.read(url)
    except NotThere:
        return "not there"
    except OffLimits:
        return "off limits"
    except ServiceError as error:
        return "".join("#" if sign.isdigit() else sign for sign in error.reason)[:60]
    return "text" if page.content else "no text"


async def fuzz(port: int, requests: list[tuple[str, int]], concurrency: int) -> tuple[Counter[tuple[str, str]], float]:
    """What came of each kind, and the longest request."""
    counts, slowest, queue = Counter[tuple[str, str]](), 0.0, list(reversed(requests))
    guard = GuardedTransport(allowed={("127.0.0.1", port)})
    async with PageFetcher(guard, FETCH) as fetcher, ExtractionPool(2, EXTRACT) as pool:
        reader = DirectReader(fetcher, pool)

        async def work() -> None:
            nonlocal slowest
            while queue:
                kind, seed = queue.pop()
                started = time.perf_counter()
                counts[kind, await outcome_of(reader, f"http://127.0.0.1:{port}/{kind}/{seed}")] += 1
                slowest = max(slowest, time.perf_counter() - started)
                if sum(counts.values()) % 1000 == 0:
                    print(f"{sum(counts.values())} pages, {pool.started} processes started", flush=True)

        await asyncio.gather(*(work() for _ in range(concurrency)))
        print(f"{pool.started} processes started, {len(pool.pids)} alive at the end")
    return counts, slowest


def usage(who: int) -> tuple[float, float]:
    """CPU-seconds, and the largest process in MB."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--concurrency", type=int, default=8)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    requests, started = plan(options.pages, options.seed), time.perf_counter()
    with hostile_web() as port:
        counts, slowest = asyncio.run(fuzz(port, requests, options.concurrency))
        wall, (own, own_mb), (other, other_mb) = (
            time.perf_counter() - started, usage(resource.RUSAGE_SELF), usage(resource.RUSAGE_CHILDREN)
        )  # fmt: skip
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind:10} {count:6}  {outcome}")
    print(f"{sum(counts.values())} of {len(requests)} pages in {wall:.0f} s, the slowest {slowest:.1f} s")
    print(
        f"this process {own:.1f} s CPU, {own_mb:.0f} MB; reading processes {other:.1f} s CPU, largest {other_mb:.0f} MB"
    )
    allowed = ATTEMPTS * FETCH.timeout_s + EXTRACT.seconds + QUEUE_S
    small = own_mb < PARENT_MB and other_mb < EXTRACT.memory_bytes / 2**20
    sys.exit(not (sum(counts.values()) == len(requests) and slowest < allowed and small))


if __name__ == "__main__":
    main()
