"""The shards of one rollout on the workers of a Ray cluster: a task each, and each worker takes one after another.

Stages start it by themselves where `rollout.executor` is `ray`. By hand: `python -m flows.rollout_flow FOLDER FLAG`,
where FOLDER is a rollout's unfinished work and FLAG a file that asks for the end by being there.
"""

import logging
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect_ray import RayTaskRunner
from prefect_ray.context import remote_options

from components.config.schema import RolloutParams
from components.rollout.sharing import ShardResult, read_request, run_shard
from components.rollout.store import RolloutStore
from flows.console import say
from flows.stop import stop_politely

LOOK_S = 1.0
"""Between looks whether the stage is there."""
WORKER_DEATHS = 3
"""How often a shard is given to another worker because one has died."""


@task(name="shard", task_run_name="shard {shard}", cache_policy=NO_CACHE)
def shard_task(folder: str, shard: int, flag: str) -> ShardResult:
    """Run what is left of one shard, in a worker."""
    return run_shard(Path(folder), shard, Path(flag))


@flow(name="rollout", flow_run_name="rollout")
def rollout(folder: str, flag: str) -> list[ShardResult]:
    """Run every shard; returns how each was left. When one fails the others are finished before the flow fails."""
    shards = range(RolloutStore(Path(folder)).layout.shards)
    with remote_options(num_cpus=1, max_retries=WORKER_DEATHS):
        futures = [shard_task.submit(folder, shard, flag) for shard in shards]
    states = [future.wait() or future.state for future in futures]
    results: list[ShardResult] = []
    for state in states:
        result = state.result(raise_on_failure=False)
        if isinstance(result, ShardResult):
            results.append(result)
        else:
            say(f"a shard was not finished: {result}")
    if len(results) < len(states):
        raise RuntimeError(f"{len(states) - len(results)} of {len(states)} shards were not finished, see above")
    return results


def runner(params: RolloutParams) -> RayTaskRunner[Any]:
    """The cluster that the settings name, or one of its own on this machine."""
    if params.ray_address:
        return RayTaskRunner(address=params.ray_address, init_kwargs={"log_to_driver": False})
    own = {"num_cpus": params.ray_workers, "include_dashboard": False, "logging_level": logging.ERROR}
    return RayTaskRunner(init_kwargs=own | {"log_to_driver": False})


def end_with_starter(flag: Path) -> None:
    """Ask the workers to end when the stage that has started this flow is gone, however it went."""
    starter = os.getppid()

    def watch() -> None:
        while os.getppid() == starter:
            time.sleep(LOOK_S)
        flag.touch()

    threading.Thread(target=watch, name="follow-starter", daemon=True).start()


if __name__ == "__main__":
    stop_politely()
    unfinished, asked = map(Path, sys.argv[1:])
    end_with_starter(asked)
    own = rollout.with_options(task_runner=runner(read_request(unfinished).params.rollout))
    own(str(unfinished), str(asked))
