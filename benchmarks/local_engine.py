"""Investigations a minute by the trained policy: batched with kept prefixes, and one after another without.

Run with `python -m benchmarks.local_engine --root FOLDER` where `make demo` has run. The other way is what a loop over
`generate` does: one investigation at a time, every turn read from the beginning of its conversation. Both decode
greedily, and their episodes are compared turn by turn.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from components.config.load import load_params
from components.config.paths import Paths
from components.config.schema import Params
from components.policies.local import LocalPolicy
from components.records.case import Split
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.rollout.cases import load_cases
from components.rollout.engine import Job, run_episodes
from components.tools.services import open_services


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--episodes", type=int, default=120)
    parser.add_argument("--alone", type=int, default=20, help="of them, so many one after another")
    options = parser.parse_args()
    paths = Paths(options.root.resolve())
    params = load_params(paths.params)
    jobs = [Job(case, params.evaluation.seed) for case in load_cases(paths, Split.TEST)][: options.episodes]
    engine, fast = _timed(jobs, params, paths, reuse=True, concurrency=params.evaluation.concurrency)
    loop, slow = _timed(jobs[: options.alone], params, paths, reuse=False, concurrency=1)
    same = sum(_said(one) == _said(other) for one, other in zip(engine, loop, strict=False))
    print(f"engine: {len(engine)} episodes, {60 * len(engine) / fast:.1f} a minute")
    print(f"loop:   {len(loop)} episodes, {60 * len(loop) / slow:.1f} a minute")
    ratio = len(engine) / fast * slow / len(loop)
    print(f"ratio {ratio:.1f}; {same} of {len(loop)} episodes are the same, token by token")


def _timed(
    jobs: list[Job], params: Params, paths: Paths, *, reuse: bool, concurrency: int
) -> tuple[list[Episode], float]:
    """The episodes, and the seconds that they took; the policy is loaded before."""

    async def run(folder: Path) -> tuple[list[Episode], float]:
        bank = ImageBank(folder, also=[paths.benchmark, paths.web])
        policy = LocalPolicy(
            paths.sft_policy,
            bank,
            name="sft",
            max_new_tokens=params.evaluation.max_new_tokens,
            max_length=params.policy.max_length,
            reuse=reuse,
        )
        async with open_services(params.on_world(), paths, bank) as services:
            started = time.perf_counter()
            episodes = await run_episodes(
                jobs, policy, services, params.agent, bank=bank, folder=folder, concurrency=concurrency
            )
            return episodes, time.perf_counter() - started

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(run(Path(folder)))


def _said(episode: Episode) -> list[tuple[int, ...] | None]:
    return [step.turn.token_ids for step in episode.steps]


if __name__ == "__main__":
    main()
