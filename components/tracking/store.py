"""Where MLflow keeps its records: SQLite in the checkout, or a server."""

from pathlib import Path
from typing import NamedTuple

from mlflow import MlflowClient

from components.config.paths import Paths
from components.config.settings import Settings
from components.errors import PreflightError, UsageError
from components.tracking.quiet import quiet

DATABASE = "mlflow.db"
ARTIFACTS = "mlartifacts"
LOCAL_UI = "http://127.0.0.1:5000"
"""Where `make ui` serves the checkout's own store."""


class Store(NamedTuple):
    """An experiment in a tracking store."""

    client: MlflowClient
    uri: str
    experiment_id: str

    def run_url(self, run_id: str) -> str:
        """The run's page in the MLflow UI; for a local store, the page that `make ui` serves."""
        return f"{self._experiment_url}/runs/{run_id}"

    @property
    def traces_url(self) -> str:
        """The page of the experiment's traces, newest first."""
        return f"{self._experiment_url}/traces"

    @property
    def _experiment_url(self) -> str:
        base = self.uri.rstrip("/") if self.uri.startswith("http") else LOCAL_UI
        return f"{base}/#/experiments/{self.experiment_id}"


def tracking_uri(root: Path, settings: Settings) -> str:
    """The server that the environment names, else SQLite in the checkout; never a folder of files.

    Raises:
        UsageError: the environment names a folder, which MLflow no longer writes to.

    """
    uri = settings.mlflow_tracking_uri
    if uri is None:
        return f"sqlite:///{root.resolve() / DATABASE}"
    if "://" not in uri or uri.startswith("file:"):
        raise UsageError(f"MLFLOW_TRACKING_URI is the folder `{uri}`; name a server or `sqlite:///...`, or unset it")
    return uri


def open_store(paths: Paths, experiment: str, settings: Settings) -> Store:
    """Connect, and make the experiment if it is new; artifacts of a local store go to `mlartifacts` of the checkout.

    Raises:
        PreflightError: the experiment was deleted in MLflow.

    """
    quiet()
    uri = tracking_uri(paths.root, settings)
    client = MlflowClient(tracking_uri=uri, registry_uri=uri)
    found = client.get_experiment_by_name(experiment)
    if found is None:
        local = uri.startswith("sqlite:")
        location = (paths.root.resolve() / ARTIFACTS / experiment).as_uri() if local else None
        return Store(client, uri, client.create_experiment(experiment, artifact_location=location))
    if found.lifecycle_stage != "active":
        raise PreflightError(f"MLflow's experiment `{experiment}` is deleted; restore it, or set tracking.experiment")
    return Store(client, uri, found.experiment_id)


def find_store(paths: Paths, experiment: str, settings: Settings) -> Store | None:
    """Connect to an experiment that is there already; None where there is none, and nothing is made."""
    quiet()
    uri = tracking_uri(paths.root, settings)
    if settings.mlflow_tracking_uri is None and not (paths.root / DATABASE).exists():
        return None
    client = MlflowClient(tracking_uri=uri, registry_uri=uri)
    found = client.get_experiment_by_name(experiment)
    return None if found is None else Store(client, uri, found.experiment_id)
