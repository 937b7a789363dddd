"""Whether everything is done already: asked before anything heavy is loaded, answered in seconds."""

from pathlib import Path

from pydantic import ValidationError

from components.commands.manifest import current_manifest
from components.commands.stages import STAGES
from components.config.paths import Paths
from components.config.schema import Params
from components.config.settings import load_settings
from components.records.base import Record
from components.storage.atomic import write_json
from components.storage.dvc import status
from components.storage.identity import digest_code, digest_file, digest_params, digest_value, source_root


class RunState(Record):
    """The last run of the whole chain that ended well."""

    identity: str
    """Digest of settings, source code and `dvc.yaml`."""
    dvc_lock_sha256: str
    """The data that the run ended with."""
    run_id: str
    """Its MLflow run."""
    run_url: str
    seconds: float
    finished_at: str
    """UTC, ISO 8601."""


def pipeline_identity(params: Params, paths: Paths) -> str:
    """Digest of what the whole chain follows from. Data are left out: they follow from it too."""
    parts = {
        "params": digest_params(params),
        "code": digest_code(source_root(), ("components", "flows")),
        "stages": digest_file(paths.root / "dvc.yaml"),
    }
    return digest_value(parts)


def save_state(paths: Paths, state: RunState) -> None:
    """Declare a run finished."""
    write_json(_path(paths), state)


def finished_run(params: Params, paths: Paths) -> RunState | None:
    """The finished run that another run would only repeat, if there is one."""
    try:
        state = RunState.model_validate_json(_path(paths).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
    lock = paths.root / "dvc.lock"
    if not lock.exists() or state.dvc_lock_sha256 != digest_file(lock):
        return None
    if load_settings().mlflow_tracking_uri is None and not (paths.root / "mlflow.db").exists():
        return None
    if state.identity != pipeline_identity(params, paths):
        return None
    if any(current_manifest(spec, params, paths) is None for spec in STAGES if not spec.in_dvc):
        return None
    return None if status(paths.root) else state


def _path(paths: Paths) -> Path:
    return paths.work / "run.json"
