"""The two places that DVC's configuration names: the cache of this checkout, and the default remote."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from components.errors import UsageError
from components.storage.depots import Depot, FolderDepot
from components.storage.dvc import settings

HERE = "here"


class Places(NamedTuple):
    """Where objects of this checkout may be."""

    cache: FolderDepot
    remote: Depot | None
    """None where no remote is configured: then the cache alone counts."""

    @property
    def all(self) -> tuple[Depot, ...]:
        """Both, the cache first."""
        return (self.cache, self.remote) if self.remote is not None else (self.cache,)

    @property
    def nowhere(self) -> str:
        """How an error speaks of what neither place has whole."""
        if self.remote is None:
            return f"not to be had {HERE}, and no remote is configured"
        return f"to be had neither {HERE} nor {self.remote.label}"


def open_places(root: Path) -> Places:
    """Read DVC's configuration.

    Raises:
        UsageError: the remote is of a kind that cannot be looked into.

    """
    chosen = settings(root)
    cache = FolderDepot(Path(chosen.get("cache.dir", root / ".dvc/cache")), HERE)
    name = chosen.get("core.remote")
    if name is None:
        return Places(cache, None)
    prefix = f"remote.{name}."
    options = {key.removeprefix(prefix): value for key, value in chosen.items() if key.startswith(prefix)}
    return Places(cache, _open(name, options))


def _open(name: str, options: Mapping[str, str]) -> Depot:
    label, url = f"in remote `{name}`", options.get("url", "")
    if {options.get(key, "false").lower() for key in ("version_aware", "worktree")} != {"false"}:
        raise UsageError(f"remote `{name}` leaves versions to the cloud; give DVC a remote without `version_aware`")
    if url.startswith("s3://"):
        from components.storage.s3 import open_s3

        return open_s3(url, options, label)
    if not url or "://" in url:
        raise UsageError(f"remote `{name}` is `{url}`, which cannot be looked into; use s3://... or a folder")
    return FolderDepot(Path(url), label)
