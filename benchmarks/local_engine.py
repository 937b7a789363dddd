"""Investigations a minute by the trained policy: batched with kept prefixes, and one after another without.

Run with `python -m benchmarks.local_engine --root FOLDER` where `make demo` has run. The other way is what a loop over
`generate` does: one investigation at a time, every turn read from the beginning of its conversation. Both decode
greedily, each in a process of its own, and their episodes are compared turn by turn. Seconds of the CPU say what a busy
machine hides.
"""

import argparse
import asyncio
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from components.config.load import load_params
from components.config.paths import Paths
from components.policies.local import LocalPolicy
from components.records.case import Split
from components.records.conversation import Conversation
from components.records.episode import Turn
from components.records.image_bank import ImageBank
from components.rollout.cases import load_cases
from components.rollout.engine import Job, run_episodes
from components.tools.services import open_services

Said = list[tuple[int, ...] | None]
"""The ids of an episode's turns."""


@dataclass(frozen=True)
class Way:
    """One way of running episodes."""

    name: str
    root: Path
    episodes: int
    concurrency: int
    reuse: bool


@dataclass(frozen=True)
class Result:
    """What one way took, loading excluded."""

    said: list[Said]
    seconds: float
    policy_seconds: float
    cpu_seconds: float
    peak_mib: float
    grown_mib: float
    """Of the peak, what was added after loading."""

    def describe(self, name: str) -> str:
        """One line."""
        episodes = len(self.said)
        return (
            f"{name:7} {episodes:4} episodes, {60 * episodes / self.seconds:6.1f} a minute, {self.seconds:.1f} s, "
            f"{self.policy_seconds:.1f} of them in the policy, {1000 * self.cpu_seconds / episodes:.0f} ms of CPU "
            f"an episode, peak {self.peak_mib:.0f} MiB ({self.grown_mib:.0f} after loading)"
        )


class Timed:
    """A policy whose time is taken."""

    quick = False

    def __init__(self, policy: LocalPolicy) -> None:
        self.name = policy.name
        self.seconds = 0.0
        self._policy = policy

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """As the policy does it."""
        started = time.perf_counter()
        turns = self._policy.act(conversations)
        self.seconds += time.perf_counter() - started
        return turns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--episodes", type=int, default=120)
    parser.add_argument(
        "--alone", type=int, default=20, help="of them, so many one after another; 0 for the engine alone"
    )
    parser.add_argument("--rounds", type=int, default=1, help="how often both are run, in turn")
    options = parser.parse_args()
    root = options.root.resolve()
    together = Way("engine", root, options.episodes, load_params(Paths(root).params).evaluation.concurrency, reuse=True)
    alone = Way("loop", root, options.alone, 1, reuse=False)
    for _ in range(options.rounds):
        engine = _apart(together)
        print(engine.describe(together.name), flush=True)
        if options.alone:
            loop = _apart(alone)
            print(loop.describe(alone.name))
            print(_compare(engine, loop), flush=True)


def _compare(engine: Result, loop: Result) -> str:
    wall = (loop.seconds / len(loop.said)) / (engine.seconds / len(engine.said))
    cpu = (loop.cpu_seconds / len(loop.said)) / (engine.cpu_seconds / len(engine.said))
    same = sum(one == other for one, other in zip(engine.said, loop.said, strict=False))
    return f"ratio {wall:.1f}, of CPU {cpu:.1f}; {same} of {len(loop.said)} episodes are the same, token by token"


def _apart(way: Way) -> Result:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_run, way).result()


def _run(way: Way) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_investigate(way, Path(folder)))


async def _investigate(way: Way, folder: Path) -> Result:
    paths = Paths(way.root)
    params = load_params(paths.params)
    jobs = [Job(case, params.evaluation.seed) for case in load_cases(paths, Split.TEST)][: way.episodes]
    bank = ImageBank(folder, also=[paths.benchmark, paths.web])
    policy = Timed(
        LocalPolicy(
            paths.sft_policy,
            bank,
            name="sft",
            max_new_tokens=params.evaluation.max_new_tokens,
            max_length=params.policy.max_length,
            reuse=way.reuse,
        )
    )
    async with open_services(params.on_world(), paths, bank) as services:
        loaded, started, cpu = _peak_mib(), time.perf_counter(), time.process_time()
        episodes = await run_episodes(
            jobs, policy, services, params.agent, bank=bank, folder=folder, concurrency=way.concurrency
        )
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        said = [[step.turn.token_ids for step in episode.steps] for episode in episodes]
        return Result(said, seconds, policy.seconds, cpu, _peak_mib(), _peak_mib() - loaded)


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
