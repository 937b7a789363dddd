"""Which MLflow runs were trained on a version of the data. MLflow is loaded only where something was tracked."""

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from components.config.paths import Paths
from components.config.schema import Params
from components.config.settings import load_settings
from components.storage.versions import Version

if TYPE_CHECKING:
    from components.tracking.trained import TrainedRun


def known_runs(paths: Paths) -> list["TrainedRun"]:
    """Every training run of the checkout's experiment; none where nothing was tracked yet, and nothing is made."""
    settings = load_settings()
    if settings.mlflow_tracking_uri is None and not (paths.root / "mlflow.db").exists():
        return []
    from components.tracking.store import find_store
    from components.tracking.trained import training_runs

    store = find_store(paths, _experiment(paths.params), settings)
    return training_runs(store) if store is not None else []


def runs_on(version: Version, runs: list["TrainedRun"]) -> list["TrainedRun"]:
    """Those of the runs that were trained on a version."""
    if not runs or version.problem:
        return []
    from components.tracking.trained import trained_on

    return trained_on(runs, {out.path: out.digest for out in version.outs})


def _experiment(params: Path) -> str:
    """The experiment's name, also where the rest of the settings is of a version that today's code cannot read."""
    document = yaml.safe_load(params.read_bytes())
    section = document.get("tracking") if isinstance(document, dict) else None
    name = section.get("experiment") if isinstance(section, dict) else None
    return str(name or Params().tracking.experiment)
