"""Versions of the data: what a commit, or the checkout as it is, records about the bytes that DVC owns."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from components.errors import UsageError
from components.storage.dvc import Out, recorded_out
from components.storage.git import commits_of, file_at, file_names, find_commit, git

LOCK = "dvc.lock"
PARAMS = "params.yaml"
PIPELINE = "dvc.yaml"
POINTERS = "*.dvc"


@dataclass(frozen=True)
class Version:
    """The data as one commit records them."""

    commit: str
    date: str
    """When it was committed, ISO 8601."""
    subject: str
    files: Mapping[str, bytes]
    """Those of git that say which data there are: `dvc.lock`, `dvc.yaml`, `params.yaml`, `*.dvc`."""

    @property
    def short(self) -> str:
        """The commit as people write it."""
        return self.commit[:8]

    @property
    def digest(self) -> str:
        """SHA-256 of `dvc.lock`: the tag `dvc.lock.sha256` of MLflow runs."""
        return hashlib.sha256(self.files[LOCK]).hexdigest()

    @cached_property
    def outs(self) -> list[Out]:
        """What it records and DVC's cache holds; raises UsageError where that cannot be read."""
        return recorded_outs(self.files, self.short)

    @property
    def problem(self) -> str:
        """Why it cannot be read, such as a merge that was left unfinished; empty where it can."""
        try:
            _ = self.outs
        except UsageError as error:
            return str(error)
        return ""


def list_versions(root: Path, limit: int) -> list[Version]:
    """The commits on the way to HEAD that changed the data, newest first."""
    found = (
        Version(commit, date, subject, _committed(root, commit))
        for commit, date, subject in commits_of(root, limit, LOCK, POINTERS)
    )
    return [version for version in found if LOCK in version.files]


def read_version(root: Path, revision: str) -> Version:
    """The data as the commit records them that a revision names.

    Raises:
        UsageError: it names no commit, or one without `dvc.lock`.

    """
    commit = find_commit(root, revision)
    files = _committed(root, commit)
    if LOCK not in files:
        raise UsageError(f"`{revision}` has no {LOCK}, so it records no data; `eviflow data log` lists commits that do")
    date, _, subject = (git(root, "log", "-1", "--format=%cI %s", commit) or b"").decode().strip().partition(" ")
    return Version(commit, date, subject, files)


def working_files(root: Path) -> dict[str, bytes]:
    """The files that say which data there are, as they lie in the checkout now."""
    names = (LOCK, PIPELINE, PARAMS, *file_names(root, None, POINTERS))
    return {name: (root / name).read_bytes() for name in names if (root / name).is_file()}


def recorded_outs(files: Mapping[str, bytes], where: str) -> list[Out]:
    """What the files record and DVC's cache holds; outputs that git keeps (`cache: false`) are left out.

    Args:
        files: contents by name, of a version or of the checkout.
        where: what to call them in an error.

    Raises:
        UsageError: one of them is no file of DVC 3.

    """
    kept = git_outs(files)
    return [out for out in _all_outs(files, where) if out.path not in kept]


def git_outs(files: Mapping[str, bytes]) -> set[str]:
    """Paths of the outputs that `dvc.yaml` leaves to git: small reports with `cache: false`."""
    return {path for path, options in _declared(files) if options.get("cache") is False}


def declared_outs(files: Mapping[str, bytes]) -> set[str]:
    """Paths of every output that `dvc.yaml` names."""
    return {path for path, _ in _declared(files)}


def pipeline_outs(files: Mapping[str, bytes], where: str) -> list[Out]:
    """What `dvc.lock` alone records, without `*.dvc` files."""
    return recorded_outs({name: text for name, text in files.items() if not name.endswith(".dvc")}, where)


def _committed(root: Path, commit: str) -> dict[str, bytes]:
    names = file_names(root, commit, LOCK, PIPELINE, PARAMS, POINTERS)
    found = {name: file_at(root, commit, name) for name in names}
    return {name: content for name, content in found.items() if content is not None}


def _all_outs(files: Mapping[str, bytes], where: str) -> Iterator[Out]:
    for name, content in files.items():
        if name == LOCK:
            stages = _mapping(content, name, where).get("stages") or {}
            for stage in stages.values():
                yield from (_recorded(out, "", name, where) for out in stage.get("outs") or [])
        elif name.endswith(".dvc"):
            folder = PurePosixPath(name).parent.as_posix()
            for out in _mapping(content, name, where).get("outs") or []:
                yield _recorded(out, "" if folder == "." else f"{folder}/", name, where)


def _recorded(out: Mapping[str, Any], folder: str, name: str, where: str) -> Out:
    if out.get("hash") != "md5" or not {"path", "md5", "size"} <= set(out):
        raise UsageError(f"{name} of {where} records `{out.get('path')}` without an MD5 of DVC 3; run `dvc commit`")
    return recorded_out(out, folder)


def _declared(files: Mapping[str, bytes]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    stages = (yaml.safe_load(files.get(PIPELINE, b"")) or {}).get("stages") or {}
    for stage in stages.values():
        for kind in ("outs", "metrics", "plots"):
            for entry in stage.get("do", stage).get(kind) or []:
                named = entry if isinstance(entry, dict) else {entry: None}
                yield from ((path, options or {}) for path, options in named.items())


def _mapping(content: bytes, name: str, where: str) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(content)
    except yaml.YAMLError:
        document = None
    if not isinstance(document, dict):
        raise UsageError(f"{name} of {where} is not a file of DVC; mend it, or choose another version")
    return document
