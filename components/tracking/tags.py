"""The tags by which a run can be joined with git, DVC and Prefect."""

from components.config.paths import Paths
from components.config.schema import Params
from components.storage.identity import digest_file, digest_params, git_state

REUSED_FROM = "eviflow.reused_from"
"""On a run whose work was done before: the run that did it."""
PREFECT_RUN = "prefect.flow_run_id"
PREFECT_URL = "prefect.flow_run_url"


def identity_tags(params: Params, paths: Paths, seed: int | None = None) -> dict[str, str]:
    """Commit, dirty flag, digests of `dvc.lock` and of the settings, and the seed where there is one."""
    git, lock = git_state(paths.root), paths.root / "dvc.lock"
    return {
        "git.sha": git.sha,
        "git.dirty": str(git.dirty).lower(),
        "dvc.lock.sha256": digest_file(lock) if lock.exists() else "none",
        "params.sha256": digest_params(params),
        **({"seed": str(seed)} if seed is not None else {}),
    }
