"""Going back, or forward, to a version of the data: everything is made sure of first, then everything is switched.

Nothing is written to the checkout before every object of the version lies in the cache, whole. What follows is done
the same way however often it is repeated, so a rollback that was killed is finished by calling it again.
"""

import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from components.config.paths import Paths
from components.errors import EviflowError, PreflightError
from components.progress import track
from components.storage.atomic import write_bytes
from components.storage.depots import digest_md5
from components.storage.dvc import checkout
from components.storage.git import file_at, is_committed
from components.storage.lock import hold_checkout
from components.storage.objects import Fault, Needed, differing, fault_of, needed_objects, survey
from components.storage.remote import Places, open_places
from components.storage.versions import (
    LOCK,
    PARAMS,
    Version,
    declared_outs,
    git_outs,
    pipeline_outs,
    read_version,
    recorded_outs,
    working_files,
)

FETCHERS = 8
"""Objects that are copied from the remote at once."""
_HALF = re.compile(r"\.[\w-]{22}\.tmp")
"""Name under which DVC writes a file before it takes its place."""


class ObjectsMissing(PreflightError):
    """Some object of a version is nowhere to be had; nothing was changed."""

    def __init__(self, sentence: str, faults: list[Fault]) -> None:
        super().__init__(sentence)
        self.faults = faults


class Plan(NamedTuple):
    """What a rollback would do."""

    version: Version
    switched: dict[str, bytes | None]
    """Files that git keeps and that would change: their new content, None for one that goes."""
    needed: list[Needed]
    fetched: list[Needed]
    """Objects that would be copied from the remote to the cache."""
    restored: list[Needed]
    """Files of data that would be written to the checkout."""
    removed: list[str]
    """Files of data that the version does not have; the cache or the remote does."""
    places: Places
    """Where the objects were looked for."""

    @property
    def objects(self) -> int:
        """How many the version needs, each counted once however many files have its bytes."""
        return len({item.digest for item in self.needed})


def plan_rollback(root: Path, revision: str) -> Plan:
    """Find out what has to be done, and that all of it can be; changes nothing.

    Raises:
        UsageError: the revision is no commit or records no data, or the remote cannot be looked into.
        PreflightError: something would be lost that no version holds, or `dvc.yaml` does not fit.
        ObjectsMissing: an object of the version is neither in the cache nor in the remote.

    """
    version = read_version(root, revision)
    outs, now = version.outs, working_files(root)
    _require_outputs(version, now)
    switched = _switched(root, version, now)
    places = open_places(root)
    needed = needed_objects(outs, places.all)
    fetched = _to_fetch(version, needed, places)
    files = _files(root, {out.path for out in [*outs, *recorded_outs(now, "the checkout")]})
    _refuse_losses(root, files, needed, places)
    kept = {root / item.path for item in needed}
    removed = [path.relative_to(root).as_posix() for path in files if path not in kept]
    return Plan(version, switched, needed, fetched, differing(needed, root), removed, places)


def roll_back(paths: Paths, revision: str) -> Plan:
    """Bring data and settings of a version into the checkout, which is held meanwhile; returns what was done.

    Raises:
        PreflightError: another process holds the checkout.
        EviflowError: as `plan_rollback`, or an object was damaged on its way.

    """
    root = paths.root
    with hold_checkout(paths.work, f"eviflow data rollback {revision}"):
        plan = plan_rollback(root, revision)
        _fetch(plan)
        _switch(root, plan)
        checkout(root)
        wrong = differing(plan.needed, root)
        if wrong:
            raise EviflowError(
                f"{len(wrong)} files are not those of {plan.version.short} after `dvc checkout`, "
                f"`{wrong[0].path}` first; run the same command again"
            )
    return plan


def _require_outputs(version: Version, now: Mapping[str, bytes]) -> None:
    """`dvc checkout` brings what the checkout's own `dvc.yaml` names, and nothing else."""
    known = declared_outs(now)
    if any("${" in path for path in known):  # DVC puts values in; what they are is not ours to say
        return
    unknown = [out.path for out in pipeline_outs(version.files, version.short) if out.path not in known]
    if unknown:
        raise PreflightError(
            f"{version.short} has `{unknown[0]}`, which dvc.yaml here does not name; "
            f"bring dvc.yaml and the code that it calls to that commit first"
        )


def _switched(root: Path, version: Version, now: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """What git's files have to become, `dvc.lock` last; refused where one has changes that no commit holds."""
    wanted: dict[str, bytes | None] = dict.fromkeys((name for name in now if name.endswith(".dvc")), None)
    wanted |= {name: content for name, content in version.files.items() if name.endswith(".dvc") or name == PARAMS}
    reports = {name: file_at(root, version.commit, name) for name in sorted(git_outs(version.files))}
    wanted |= {name: content for name, content in reports.items() if content is not None}
    wanted[LOCK] = version.files[LOCK]
    changed = {name: content for name, content in wanted.items() if _content(root / name) != content}
    unsaved = [name for name in changed if (root / name).exists() and not is_committed(root, name)]
    if unsaved:
        raise PreflightError(f"`{unsaved[0]}` has changes that no commit holds; commit them, or undo them, and repeat")
    return changed


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _to_fetch(version: Version, needed: list[Needed], places: Places) -> list[Needed]:
    """The objects that the cache lacks or has damaged; refused where the remote does not have them whole."""
    here = survey(needed, places.cache).faults
    lacking = [fault.needed for fault in here]
    faults = survey(lacking, places.remote).faults if places.remote is not None else here
    if faults:
        are = "1 object of {} is" if len(faults) == 1 else f"{len(faults)} objects of {{}} are"
        raise ObjectsMissing(
            f"{are.format(version.short)} {places.nowhere}, `{faults[0].needed.path}` first, "
            "so nothing was changed; `dvc push` from a checkout that has them, or choose another version",
            faults,
        )
    return lacking


def _refuse_losses(root: Path, files: list[Path], needed: list[Needed], places: Places) -> None:
    """Data that only the checkout has would be overwritten: made outside DVC, or changed by hand.

    What a `dvc checkout` that was killed leaves half written is nothing to lose: it is empty, or has DVC's own name.
    """
    kept = {item.digest for item in needed}
    own = {digest_md5(path): path for path in files if path.stat().st_size and not _HALF.fullmatch(path.name)}
    lone = {digest: path for digest, path in own.items() if digest not in kept}
    for place in places.all:
        found = place.find(lone)
        lone = {digest: path for digest, path in lone.items() if fault_of(digest, found.get(digest)) is not None}
    if lone:
        path = min(lone.values()).relative_to(root)
        raise PreflightError(f"`{path}` has content that no version holds; keep it with `dvc commit`, or delete it")


def _files(root: Path, outs: Iterable[str]) -> list[Path]:
    """Every file of data in the checkout, in whatever state."""
    found = (path for out in sorted(outs) for path in (root / out, *(root / out).rglob("*")))
    return [path for path in found if path.is_file()]


def _switch(root: Path, plan: Plan) -> None:
    """Take away first what only the present records know of: a repetition would not find it any more."""
    for name in plan.removed:
        (root / name).unlink(missing_ok=True)
    for name, content in plan.switched.items():
        if content is None:
            (root / name).unlink(missing_ok=True)
        else:
            write_bytes(root / name, content)


def _fetch(plan: Plan) -> None:
    """Copy what the cache lacks; every object is checked on its way, and none is left there in part."""
    cache, remote = plan.places.cache, plan.places.remote
    if not plan.fetched or remote is None:
        return

    def take(item: Needed) -> None:
        if not cache.take(item.digest, remote):
            raise EviflowError(
                f"`{item.path}` is damaged {remote.label} ({item.digest}), so the checkout was left as it is; "
                "delete it there, and `dvc push` from a checkout that has it"
            )

    with ThreadPoolExecutor(FETCHERS) as pool:
        for _ in track(pool.map(take, plan.fetched), "fetch", len(plan.fetched), "objects"):
            pass
