"""What orchestration, ledgers and storage cost: many investigations whose policy and tool answer at once.

Run with `python -m benchmarks.engine_time`. Ten thousand episodes of four turns are run and written as shards; then the
run is taken up with one job more, which tells how long it takes until new work begins. Beside it stands the same number
of episodes a second with one Prefect task for each, on a server of its own (`--prefect 500`).
"""

import argparse
import asyncio
import io
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
from PIL import Image

from benchmarks.loop_time import Echo
from components.agent.codec import render_call, render_report
from components.config.schema import AgentParams
from components.records.case import Case, Verdict
from components.records.conversation import Conversation
from components.records.episode import Report, Turn
from components.records.image_bank import ImageBank, asset_path
from components.records.shards import write_episode_shards
from components.rollout.engine import Job, run_episodes
from components.rollout.store import Finished
from components.tools.toolbox import Toolbox

TURNS = (
    Turn(text=render_call("Look.", "perceive_scene", {})),
    Turn(text=render_call("Enough.", "finish_investigation", {"rationale": "All is known."})),
    Turn(text=render_report("So.", Report(verdict=Verdict.SUPPORTED, explanation="as documented", cited=("o1",)))),
)


class Known:
    """A policy that says the same three turns."""

    name, quick = "known", True

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """The next of them."""
        taken = [sum(message.role == "assistant" for message in one.messages) for one in conversations]
        return [TURNS[number] for number in taken]


class Tools:
    """Opens the one tool, and keeps when it was first asked for."""

    def __init__(self, bank: ImageBank) -> None:
        self._bank = bank
        self.first: float | None = None

    def toolbox(self, case: Case, image: bytes) -> Toolbox:
        """A tool that answers at once."""
        self.first = self.first or time.perf_counter()
        return Toolbox(case, image, (Echo(),), self._bank)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--prefect", type=int, default=0, help="episodes to run as Prefect tasks; 0 leaves this out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), options.episodes)
        if options.prefect:
            as_tasks(Path(folder), options.prefect)


def measure(folder: Path, count: int) -> None:
    bank, process = ImageBank(folder / "bank"), psutil.Process()
    digest = bank.put(_picture())
    cases = [Case(case_id=f"c-{at:06}", image_path=asset_path(digest), image_sha256=digest) for at in range(count + 1)]
    jobs = [Job(case, 0) for case in cases]
    sizes = []
    for part in (count // 2, count):
        started, used = time.perf_counter(), process.cpu_times()
        episodes = _run(jobs[:part], bank, folder / "work", Tools(bank))
        sizes.append(process.memory_info().rss / 1e6)
        wall, cpu = time.perf_counter() - started, _cpu(process, used)
        print(f"up to {part} episodes: {wall:.1f} s, {cpu:.1f} CPU-s, {sizes[-1]:.0f} MB")
    assert all(episode.report for episode in episodes)
    started = time.perf_counter()
    written = write_episode_shards(folder / "out", episodes.by_id)
    shards = list((folder / "out").iterdir())
    largest = sum(shard.stat().st_size for shard in shards) / written
    print(
        f"{written} written to {len(shards)} shards in {time.perf_counter() - started:.1f} s, {largest:.0f} bytes each"
    )
    tools, started = Tools(bank), time.perf_counter()
    _run(jobs, bank, folder / "work", tools)
    assert tools.first is not None
    print(f"taken up with {count} finished: new work after {tools.first - started:.2f} s")
    print(f"memory at the end {process.memory_info().rss / 1e6:.0f} MB")


def as_tasks(folder: Path, count: int) -> None:
    from prefect import flow, task
    from prefect.testing.utilities import prefect_test_harness

    bank = ImageBank(folder / "bank")
    digest = bank.put(_picture())

    @task
    def one(number: int) -> int:
        case = Case(case_id=f"t-{number:06}", image_path=asset_path(digest), image_sha256=digest)
        return len(_run([Job(case, 0)], bank, folder / f"task-{number}", Tools(bank)))

    @flow
    def many() -> int:
        return sum(one(number) for number in range(count))

    with prefect_test_harness(server_startup_timeout=120):
        started = time.perf_counter()
        many()
        wall = time.perf_counter() - started
    print(f"one Prefect task each: {count} episodes in {wall:.1f} s, {count / wall:.1f} a second")


def _run(jobs: Sequence[Job], bank: ImageBank, folder: Path, tools: Tools) -> Finished:
    return asyncio.run(
        run_episodes(jobs, Known(), tools, AgentParams(), bank=bank, folder=folder, concurrency=64, title="episodes")
    )


def _cpu(process: psutil.Process, before: object) -> float:
    now = process.cpu_times()
    return float(now.user + now.system - before.user - before.system)  # type: ignore[attr-defined]


def _picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), "red").save(buffer, format="PNG")
    return buffer.getvalue()


if __name__ == "__main__":
    main()
