"""Checkpoints as logged models and registered versions. A checkpoint is an ordinary Hugging Face folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mlflow.artifacts import download_artifacts
from mlflow.entities import LoggedModel, LoggedModelStatus
from mlflow.exceptions import MlflowException

from components.errors import EviflowError
from components.storage.identity import digest_tree
from components.tracking.store import Store

CANDIDATE = "candidate"
"""The alias of the newest trained version; promotion to `champion` is another decision."""
DIGEST = "eviflow.digest"
WRITTEN_BY_MLFLOW = ("MLmodel", "registered_model_meta")
"""Files that a download adds to what was logged."""


class RegisteredCheckpoint(NamedTuple):
    """Where a checkpoint can be found again."""

    model_id: str
    name: str
    version: str


def log_checkpoint(
    store: Store, folder: Path, name: str, run_id: str, tags: Mapping[str, str], params: Mapping[str, object]
) -> RegisteredCheckpoint:
    """Log a folder as a model of the run, register it, and point `candidate` at it.

    The same folder logged by the same run again, after a kill, is found and not logged twice.
    """
    digest = digest_tree(folder)
    model = _find_logged(store, run_id, digest) or _log_folder(store, folder, name, run_id, digest, tags, params)
    if not store.client.search_registered_models(f"name = '{name}'"):
        store.client.create_registered_model(name)
    version = _find_version(store, name, run_id, digest) or _register(store, name, model, run_id, digest, tags)
    store.client.set_registered_model_alias(name, CANDIDATE, version)
    return RegisteredCheckpoint(model.model_id, name, version)


def fetch_checkpoint(store: Store, name: str, alias: str, target: Path) -> Path:
    """Download a registered version's folder to `target`, verify it, and return where it lies.

    Raises:
        EviflowError: there is no such version, or what arrived is not what was logged.

    """
    try:
        version = store.client.get_model_version_by_alias(name, alias)
    except MlflowException as error:
        raise EviflowError(f"MLflow has no model `{name}@{alias}`; train one with `eviflow run`") from error
    folder = Path(download_artifacts(artifact_uri=version.source, dst_path=str(target), tracking_uri=store.uri))
    if digest_tree(folder, skip=WRITTEN_BY_MLFLOW) != version.tags[DIGEST]:
        raise EviflowError(f"model `{name}@{alias}` arrived damaged in {folder}; download it again")
    return folder


def _log_folder(
    store: Store,
    folder: Path,
    name: str,
    run_id: str,
    digest: str,
    tags: Mapping[str, str],
    params: Mapping[str, object],
) -> LoggedModel:
    model = store.client.create_logged_model(
        store.experiment_id,
        name=name,
        source_run_id=run_id,
        tags={**tags, DIGEST: digest},
        params={key: str(value) for key, value in params.items()},
        model_type="huggingface-folder",
    )
    store.client.log_model_artifacts(model.model_id, str(folder))
    return store.client.finalize_logged_model(model.model_id, LoggedModelStatus.READY)


def _find_logged(store: Store, run_id: str, digest: str) -> LoggedModel | None:
    query = f"source_run_id = '{run_id}' and tags.`{DIGEST}` = '{digest}'"
    found = store.client.search_logged_models([store.experiment_id], query)
    return next((model for model in found if model.status == LoggedModelStatus.READY), None)


def _register(store: Store, name: str, model: LoggedModel, run_id: str, digest: str, tags: Mapping[str, str]) -> str:
    version = store.client.create_model_version(
        name, model.artifact_location, run_id, tags={**tags, DIGEST: digest}, model_id=model.model_id
    )
    return str(version.version)


def _find_version(store: Store, name: str, run_id: str, digest: str) -> str | None:
    versions = store.client.search_model_versions(f"name = '{name}' and run_id = '{run_id}'")
    return next((str(item.version) for item in versions if item.tags.get(DIGEST) == digest), None)


def find_model(store: Store, digest: str) -> str | None:
    """Id of the newest logged model whose folder had this digest, if there is one."""
    query = f"tags.`{DIGEST}` = '{digest}'"
    order = [{"field_name": "creation_timestamp", "ascending": False}]
    found = store.client.search_logged_models([store.experiment_id], query, order_by=order)
    return found[0].model_id if found else None
