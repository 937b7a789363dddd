"""One rollout from start to end: services opened, episodes run, services closed."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from components.config.paths import Paths
from components.config.schema import Params
from components.records.conversation import AsyncPolicy, Policy
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.rollout.budget import Budget
from components.rollout.drain import Drain
from components.rollout.engine import run_episodes
from components.rollout.slot import Job
from components.rollout.store import Finished, Layout
from components.tools.services import open_services

PAID = ("live", "record")
"""Transports behind which vendors are."""


def roll_out(
    params: Params,
    paths: Paths,
    jobs: Sequence[Job],
    policy: Policy,
    *,
    bank: ImageBank,
    folder: Path,
    concurrency: int,
    title: str,
    budget: Budget | None = None,
    drain: Drain | None = None,
) -> Finished:
    """Run `jobs` with the tools that `params` describe; other arguments and errors as in `run_episodes`."""
    rollout = params.rollout

    async def run() -> Finished:
        async with open_services(params, paths, bank) as services:
            return await run_episodes(
                jobs,
                policy,
                services,
                params.agent,
                bank=bank,
                folder=folder,
                concurrency=concurrency,
                title=title,
                budget=budget,
                layout=Layout(shards=rollout.shards, attempts=rollout.attempts),
                drain=drain or Drain(rollout.drain_s),
                journal=isinstance(policy, AsyncPolicy) or params.tools.transport in PAID,
            )

    return asyncio.run(run())


def copy_pictures(episodes: Sequence[Episode], source: ImageBank, put: Callable[[bytes], str]) -> int:
    """Give `put` the pictures that `episodes` show and `source` has; returns how many.

    Pictures of attempts that did not become an episode stay behind.
    """
    shown = {digest for episode in episodes for item in episode.observations for digest in item.images}
    own = [digest for digest in sorted(shown) if digest in source]
    for digest in own:
        put(source.read(digest))
    return len(own)
