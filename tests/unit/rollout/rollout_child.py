"""A rollout in a process of its own, to be killed: `rollout_child.py FOLDER CASES`."""

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rollout_doubles import Tools, Walker, make_cases

from components.config.schema import AgentParams
from components.errors import EviflowError
from components.records.conversation import Conversation
from components.records.episode import Turn
from components.records.image_bank import ImageBank
from components.rollout.engine import Job, run_episodes


class Slow(Walker):
    """Takes its time, so that the kill comes in the middle."""

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        time.sleep(0.02)
        return super().act(conversations)


def main(folder: Path, count: int) -> None:
    bank = ImageBank(folder)
    jobs = [Job(case, seed) for case in make_cases(bank, count) for seed in (0, 1)]
    tools = Tools(bank, folder / "journal.txt")
    asyncio.run(run_episodes(jobs, Slow(), tools, AgentParams(), bank=bank, folder=folder / "work", concurrency=4))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), int(sys.argv[2]))
    except EviflowError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
