"""MLflow's telemetry off and its chatter down, for this process."""

import logging
import os


def quiet() -> None:
    """Send no telemetry, and log warnings only. Called when a store is opened, never at import."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    logging.getLogger("mlflow").setLevel(logging.WARNING)
    logging.getLogger("alembic").setLevel(logging.WARNING)
