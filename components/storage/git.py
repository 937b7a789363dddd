"""Git, asked as a process: what a revision's files hold, and whether a file's bytes are in some commit."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

from components.errors import UsageError


def require_git(root: Path) -> None:
    """Insist that `root` lies in a git repository with a commit.

    Raises:
        UsageError: it does not, or git is not installed.

    """
    if git(root, "rev-parse", "--verify", "--quiet", "HEAD") is None:
        raise UsageError(f"{root} is no git repository with a commit, so the data have no versions; commit `dvc.lock`")


def find_commit(root: Path, revision: str) -> str:
    """The full id of the commit that a revision names.

    Raises:
        UsageError: it names none.

    """
    require_git(root)
    found = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found is None:
        raise UsageError(f"`{revision}` is no commit of {root}; `eviflow data log` lists the versions there are")
    return found.decode().strip()


def commits_of(root: Path, limit: int, *patterns: str) -> Iterator[tuple[str, str, str]]:
    """Id, date (ISO 8601) and subject of the commits that changed files matching the patterns, newest first."""
    pieces = "%H%x00%cI%x00%s"
    listed = git(root, "log", f"--max-count={limit}", f"--format={pieces}", "--", *patterns) or b""
    for line in filter(None, listed.decode("utf-8", "replace").split("\n")):
        commit, date, subject = line.split("\0", 2)
        yield commit, date, subject


def file_names(root: Path, commit: str | None, *patterns: str) -> list[str]:
    """Names, relative to `root`, of the files that match in a commit; without one, of those that git tracks now."""
    if commit is None:
        return _names(git(root, "ls-files", "-z", "--", *patterns))
    listed = _names(git(root, "ls-tree", "-r", "-z", "--name-only", commit))
    return [name for name in listed if any(_matches(name, pattern) for pattern in patterns)]


def file_at(root: Path, commit: str, name: str) -> bytes | None:
    """A file's bytes in a commit; None where it has no such file."""
    return git(root, "cat-file", "blob", f"{commit}:./{name}")


def is_committed(root: Path, name: str) -> bool:
    """Whether some commit has the file with the bytes that it has now, so that overwriting it loses nothing."""
    digest = git(root, "hash-object", "--", name)
    if digest is None:
        return False
    found = git(root, "log", "--all", "--max-count=1", "--format=%H", f"--find-object={digest.decode().strip()}")
    return bool(found)


def git(root: Path, *arguments: str) -> bytes | None:
    """What a git command prints; None where it fails or git is not installed."""
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def _names(listed: bytes | None) -> list[str]:
    return [name for name in (listed or b"").decode("utf-8", "surrogateescape").split("\0") if name]


def _matches(name: str, pattern: str) -> bool:
    """`*.dvc` matches by its ending, as in git; anything else by the whole name."""
    return name.endswith(pattern[1:]) if pattern.startswith("*") else name == pattern
