"""The environment of a process that runs a flow."""

import os

from components.config.paths import Paths
from components.config.settings import Settings


def flow_environment(paths: Paths, settings: Settings, debug: bool = False) -> dict[str, str]:
    """Variables of a run's process: quiet, without telemetry, its own Prefect database unless a server is named.

    Prefect would print an error and its traceback once for each task and flow around it.
    """
    chosen = {
        "DO_NOT_TRACK": "1",
        "DVC_NO_ANALYTICS": "1",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "PREFECT_LOGGING_LEVEL": "WARNING" if debug else "CRITICAL",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    }
    if settings.prefect_api_url is None:
        chosen |= {
            "PREFECT_HOME": str(paths.work / "prefect"),
            "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "true",
            "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "300",
        }
    return {name: value for name, value in chosen.items() if name not in os.environ}
