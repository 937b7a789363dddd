"""How much faster a recorded run is replayed than it was recorded, with a delay before every answer.

Run with `python -m benchmarks.replay_time`; a small closed world stands behind the delay of 50 ms. Its answers are
computed beforehand, so that recording waits for the delay and not for the world. The same investigations run, one after
another as a person would see them (`--concurrency 1`) or in lockstep; both runs must give the same episodes.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import httpx

from components.config.paths import Paths
from components.config.schema import BenchmarkParams, Params, ToolParams, WorldParams
from components.curation.build import build_benchmark, build_world
from components.policies.scripted import ScriptedTeacher
from components.records.case import Split
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.release.stage import release_candidates
from components.rollout.cases import load_cases
from components.rollout.engine import Job, run_episodes
from components.tools.clients.http import Requester
from components.tools.connections import world_transport
from components.tools.recording import recorded, replayed
from components.tools.services import Services
from components.tools.source_policy import SourcePolicy
from components.tools.transports import RecordTransport, ReplayTransport


class Slow(httpx.AsyncBaseTransport):
    """Waits before every answer, and counts."""

    def __init__(self, inner: httpx.AsyncBaseTransport, delay_s: float) -> None:
        self._inner, self._delay_s = inner, delay_s
        self.requests = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        self.requests += 1
        await asyncio.sleep(self._delay_s)
        return await self._inner.handle_async_request(request)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=12)
    parser.add_argument("--delay-ms", type=float, default=50)
    parser.add_argument("--concurrency", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Paths(Path(folder)), options.events, options.delay_ms / 1e3, options.concurrency)


def measure(paths: Paths, events: int, delay_s: float, concurrency: int) -> None:
    params = Params(
        world=WorldParams(train_events=events, test_events=4), benchmark=BenchmarkParams(images_per_event=1)
    )
    build_world(params, paths)
    build_benchmark(params, paths)
    release_candidates(params, paths)
    jobs = [Job(case, 26) for case in load_cases(paths, Split.TRAIN)]
    # What the machine computes once and keeps belongs to neither run: OCR, features, the first use of libraries.
    run(world_transport(params, paths), jobs, paths, "warm", concurrency)
    slow, folder = Slow(world_transport(params, paths), delay_s), paths.root / "recording"
    with recorded(folder) as recording:
        first = run(RecordTransport(slow, recording), jobs, paths, "record", concurrency)
        kept = recording.count("answers")
    with replayed(folder) as recording:
        second = run(ReplayTransport(recording), jobs, paths, "replay", concurrency)
    assert told(first[0]) == told(second[0]), "the replayed episodes differ"
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"\n{len(jobs)} episodes, {slow.requests} requests of {delay_s * 1e3:g} ms, {kept} answers in {size} bytes")
    for name, (_, wall, services) in (("recorded", first), ("replayed", second)):
        print(f"{name}: {wall:6.2f} s in all, {services:6.2f} s of them waiting for services")
    services, whole = first[2] / second[2], first[1] / second[1]
    print(f"replay is {services:.1f} times as fast at the services, {whole:.1f} times with the tools' own work")


class Timed(httpx.AsyncBaseTransport):
    """Adds up how long answers take."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner, self.seconds = inner, 0.0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        started = time.perf_counter()
        try:
            return await self._inner.handle_async_request(request)
        finally:
            self.seconds += time.perf_counter() - started


def run(
    transport: httpx.AsyncBaseTransport, jobs: list[Job], paths: Paths, name: str, concurrency: int
) -> tuple[list[Episode], float, float]:
    """The episodes, the seconds that they took, and those spent at the services."""
    folder, timed = paths.work / name, Timed(transport)
    bank = ImageBank(folder, also=[paths.benchmark, paths.web])

    async def go() -> list[Episode]:
        async with Requester(timed, 20) as requester:
            services = Services(requester, ToolParams(), bank, SourcePolicy())
            return await run_episodes(
                jobs,
                ScriptedTeacher(),
                services,
                Params().agent,
                bank=bank,
                folder=folder,
                concurrency=concurrency,
                title=name,
            )

    started = time.perf_counter()
    episodes = asyncio.run(go())
    return episodes, time.perf_counter() - started, timed.seconds


def told(episodes: list[Episode]) -> list[str]:
    """The episodes without what clocks say."""
    plain = []
    for episode in episodes:
        steps = tuple(
            step.model_copy(update={"observation": step.observation.model_copy(update={"duration_s": 0.0})})
            if step.observation
            else step
            for step in episode.steps
        )
        plain.append(episode.model_copy(update={"steps": steps, "started_at": "", "duration_s": 0.0}))
    return [episode.model_dump_json() for episode in plain]


if __name__ == "__main__":
    main()
