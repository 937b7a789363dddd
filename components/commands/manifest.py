"""What says that a stage outside DVC is finished, and for which inputs: a file written last. Loads nothing heavy."""

from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from components.commands.stages import StageSpec
from components.config.paths import Paths
from components.config.schema import Params
from components.records.base import Record
from components.storage.atomic import write_json
from components.storage.identity import digest_code, digest_params, digest_tree, digest_value, source_root


class Manifest(Record):
    """One finished stage."""

    identity: str
    """Digest of everything the stage depends on."""
    outputs: dict[str, str]
    """Digest of each output: one that was touched since is made again."""
    run_id: str
    """The MLflow run that tells about it."""
    metrics: dict[str, float]
    seconds: float
    finished_at: str
    """UTC, ISO 8601."""


def stage_identity(spec: StageSpec, params: Params, paths: Paths) -> str:
    """Digest of the settings, source code and input files that the stage depends on."""
    parts = {
        "params": digest_params(params, spec.sections),
        "code": digest_code(source_root(), spec.code),
        "inputs": digest_value({name: digest_tree(paths.root / name) for name in (*spec.inputs, *spec.kept)}),
    }
    return digest_value(parts)


def write_manifest(
    spec: StageSpec, paths: Paths, identity: str, run_id: str, metrics: dict[str, float], seconds: float
) -> Manifest:
    """Declare the stage finished; called when its outputs and its MLflow run are complete."""
    manifest = Manifest(
        identity=identity,
        outputs={name: digest_tree(paths.root / name) for name in spec.outputs},
        run_id=run_id,
        metrics=metrics,
        seconds=seconds,
        finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    write_json(_path(spec, paths), manifest)
    return manifest


def current_manifest(spec: StageSpec, params: Params, paths: Paths) -> Manifest | None:
    """The stage's manifest, if its inputs and outputs are still as they were; else None: the stage has to run."""
    try:
        manifest = Manifest.model_validate_json(_path(spec, paths).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
    if manifest.identity != stage_identity(spec, params, paths):
        return None
    intact = all(digest and digest_tree(paths.root / name) == digest for name, digest in manifest.outputs.items())
    return manifest if intact else None


def _path(spec: StageSpec, paths: Paths) -> Path:
    return paths.work / "stages" / f"{spec.name}.json"
