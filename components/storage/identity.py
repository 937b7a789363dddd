"""What a piece of work is made of, as digests: settings, input files, source code, git state."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from components.config.schema import Params
from components.storage.git import git


class GitState(NamedTuple):
    """Where the checkout stands in git."""

    sha: str
    """Commit, or "none" outside a git repository."""
    dirty: bool
    """Whether tracked files differ from the commit. Outside git there is nothing to differ from."""


def digest_value(value: Mapping[str, Any] | BaseModel) -> str:
    """SHA-256 of a mapping or model as canonical JSON."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else dict(value)
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def digest_params(params: Params, sections: Iterable[str] | None = None) -> str:
    """SHA-256 of the named sections or single keys (`section.key`), or of all; comments and order do not count."""
    plain = params.model_dump(mode="json")
    names = plain if sections is None else sections
    return digest_value({name: reduce(getitem, name.split("."), plain) for name in names})


def digest_file(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_tree(path: Path, pattern: str = "*", skip: Collection[str] = ()) -> str:
    """SHA-256 over the bytes of a file, or over names and bytes of a folder's files; "" if there is nothing.

    Args:
        path: the file or folder.
        pattern: only files whose names match.
        skip: names of files to leave out.

    """
    if path.is_file():
        return digest_file(path)
    if not path.exists():
        return ""
    found = (file for file in path.rglob(pattern) if file.is_file() and file.name not in skip)
    files = sorted(file for file in found if "__pycache__" not in file.parts)
    return digest_value({file.relative_to(path).as_posix(): digest_file(file) for file in files})


def digest_code(root: Path, packages: Iterable[str]) -> str:
    """SHA-256 over the source files of packages given as folders relative to `root` (`components/training`)."""
    kinds = ("*.py", "*.jinja", "*.md", "*.json")
    return digest_value({package: [digest_tree(root / package, kind) for kind in kinds] for package in packages})


def source_root() -> Path:
    """The folder that holds the running `components`: code is digested where it runs, whatever checkout it works on."""
    return Path(__file__).parents[2]


def git_state(root: Path) -> GitState:
    """The commit that `root` is at, and whether tracked files differ from it."""
    sha = git(root, "rev-parse", "HEAD")
    if sha is None:
        return GitState("none", False)
    return GitState(sha.decode().strip(), bool(git(root, "status", "--porcelain", "--untracked-files=no")))
