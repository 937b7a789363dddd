"""Building the world and EviLens-F in a folder of their own, of any size, stage by stage; a killed build goes on."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from components.commands.manifest import current_manifest, stage_identity, write_manifest
from components.commands.stages import find_stage
from components.config.load import load_params
from components.config.paths import Paths
from components.config.schema import Params
from components.errors import EviflowError, UsageError
from components.storage.atomic import remove_leftovers, write_text
from components.storage.cost import Cost, CostWatch
from components.storage.identity import source_root
from components.storage.lock import TOKEN_VARIABLE, hold_checkout
from components.storage.process import run_group

STAGES = ("world", "benchmark", "panel")
"""What makes EviLens-F, in order."""
_TEST_SHARE = 0.2
_LEAST = 20
"""Candidates below which a split may come out empty."""

Tell = Callable[[str], object]


def sized(params: Params, cases: int) -> Params:
    """The settings for so many candidates, a fifth of their events for test; whole events, so perhaps a few more.

    Raises:
        UsageError: there are too few to divide.

    """
    if cases < _LEAST:
        raise UsageError(f"--cases {cases} is too few to divide into train and test; ask for {_LEAST} or more")
    events = -(-cases // params.benchmark.images_per_event)
    test = max(1, round(_TEST_SHARE * events))
    world = params.world.model_copy(update={"train_events": max(1, events - test), "test_events": test})
    return params.model_copy(update={"world": world})


def claim_folder(folder: Path, params: Params) -> Paths:
    """Make `folder` the place of a build with these settings, new or begun before.

    Raises:
        UsageError: something else lies there.

    """
    paths = Paths(folder.resolve())
    if paths.params.exists():
        if load_params(paths.params) != params:
            raise UsageError(f"{folder} holds a build with other settings; name another folder with --into")
        return paths
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there and holds no build; name a folder that is new or empty with --into")
    plain = yaml.safe_dump(params.model_dump(mode="json"), sort_keys=False)
    write_text(
        paths.params, f"# Settings of `eviflow data build`. The folder is a root: eviflow --root {folder} ...\n{plain}"
    )
    return paths


def build_folder(params: Params, paths: Paths, tell: Tell, stages: Sequence[str] = STAGES) -> dict[str, Cost]:
    """Run the stages that are not finished, each as a process, and return what each of them cost.

    Args:
        params: all settings.
        paths: a folder that `claim_folder` has given.
        tell: is told what begins, and what was finished before.
        stages: which ones.

    Raises:
        PreflightError: another process builds in that folder.
        EviflowError: a stage failed.

    """
    costs = {}
    with hold_checkout(paths.work, "eviflow data build") as holder:
        for name in stages:
            spec = find_stage(name)
            if (done := current_manifest(spec, params, paths)) is not None:
                tell(f"{name}: finished before, in {done.seconds:.0f} s")
                continue
            tell(f"{name}: {spec.summary}")
            for output in spec.outputs:
                remove_leftovers(paths.root / output)
            started, identity = time.monotonic(), stage_identity(spec, params, paths)
            costs[name] = _run(name, paths, holder.token)
            write_manifest(spec, paths, identity, "", {}, time.monotonic() - started)
    return costs


def _run(stage: str, paths: Paths, token: str) -> Cost:
    argv = [sys.executable, "-m", "components.cli", "--root", str(paths.root), "stage", stage]
    with CostWatch() as watch:
        finished = run_group(argv, source_root(), os.environ | {TOKEN_VARIABLE: token})
    if finished.returncode:
        raise EviflowError(f"stage `{stage}` failed, see above; mend it and run the same command again")
    return watch.cost
