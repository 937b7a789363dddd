"""Time, threads, sockets and memory of many investigations by the scripted teacher on the closed world.

Run with `python -m benchmarks.investigations --root FOLDER`, where a world and a benchmark are built (`make demo`, or
`eviflow data build --cases 1000 --into FOLDER`). Text in the cases' pictures was read when the benchmark was built, and
each run keeps what else it reads; so run it twice, and look at the second.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

import psutil

from components.agent.render import messages_of
from components.config.load import load_params
from components.config.paths import Paths
from components.policies.scripted import ScriptedTeacher
from components.records.case import Case, Split
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.rollout.cases import load_cases
from components.rollout.engine import Job, run_episodes
from components.tools.services import Services, open_services
from components.tools.toolbox import Toolbox

EVERY = 100


class Watched:
    """Opens tools, and looks at the process each time that another hundred investigations have begun.

    Args:
        services: opens the tools.

    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._process = psutil.Process()
        self._begun = 0
        self._started = time.perf_counter()

    def toolbox(self, case: Case, image: bytes) -> Toolbox:
        """The tools of one investigation."""
        self._begun += 1
        if self._begun % EVERY == 0:
            self.look()
        return self._services.toolbox(case, image)

    def look(self) -> None:
        """Print a row."""
        process, seconds = self._process, time.perf_counter() - self._started
        sockets, memory = len(process.net_connections()), process.memory_info().rss / 1e6
        print(f"{self._begun:6}{seconds:9.1f}{process.num_threads():9}{sockets:9}{process.num_fds():7}{memory:8.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=32)
    options = parser.parse_args()
    started, used = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        episodes = asyncio.run(_run(Paths(options.root.resolve()), options.episodes, options.concurrency, Path(folder)))
    wall, cpu = time.perf_counter() - started, time.process_time() - used
    actions = sum(episode.actions_used for episode in episodes)
    reported = sum(episode.report is not None for episode in episodes)
    print(f"{len(episodes)} investigations, {reported} with a report, {actions} actions: {wall:.1f} s, {cpu:.1f} CPU-s")
    _show_requests(episodes)


async def _run(paths: Paths, count: int, concurrency: int, folder: Path) -> list[Episode]:
    params = load_params(paths.params).on_world()
    cases = load_cases(paths, Split.TRAIN)
    jobs = [Job(cases[number % len(cases)], 26 + number // len(cases)) for number in range(count)]
    bank = ImageBank(folder, also=[paths.benchmark, paths.web])
    async with open_services(params, paths, bank) as services:
        watched = Watched(services)
        print(" begun        s  threads  sockets  files      MB")
        episodes = await run_episodes(
            jobs, ScriptedTeacher(), watched, params.agent, bank=bank, folder=folder, concurrency=concurrency
        )
        watched.look()
    return episodes


def _show_requests(episodes: list[Episode]) -> None:
    """How large the request of each turn is: characters of all messages, and pictures, on average."""
    print(" turn  episodes  characters  pictures")
    shown = [messages_of(episode) for episode in episodes]
    for turn in range(max(len(episode.steps) for episode in episodes)):
        sizes = []
        for messages in shown:
            turns = [at for at, message in enumerate(messages) if message.role == "assistant"]
            if turn < len(turns):
                before = messages[: turns[turn]]
                sizes.append((sum(len(one.text) for one in before), sum(len(one.images) for one in before)))
        text, pictures = (sum(column) / len(sizes) for column in zip(*sizes, strict=True))
        print(f"{turn + 1:5}{len(sizes):10}{text:12.0f}{pictures:10.2f}")


if __name__ == "__main__":
    main()
