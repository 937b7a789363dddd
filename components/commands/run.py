"""`eviflow run`: the whole chain as a Prefect flow, or nothing at all where nothing has changed."""

import os
import sys

import typer

from components.commands.session import Session
from components.config.paths import Paths
from components.config.settings import Settings

EXAMPLE = "Example:\n\n    eviflow run"


def run(context: typer.Context) -> None:
    """Bring everything up to date, from the closed world to the judged evaluation; go on after a kill."""
    from components.commands.finished import finished_run
    from components.commands.summary import show_summary
    from components.config.load import load_params
    from components.config.settings import load_settings
    from components.storage.lock import hold_checkout

    session: Session = context.obj
    paths = session.paths
    params = load_params(paths.params)
    with hold_checkout(paths.work, "eviflow run"):
        state = finished_run(params, paths)
    if state is not None:
        show_summary(state, paths, repeated=True)
        return
    _become_flow(session, paths, load_settings())


def _become_flow(session: Session, paths: Paths, settings: Settings) -> None:
    """Replace this process by the flow's, which starts with Prefect's settings in place.

    Components know nothing of Prefect, so the flow is another program; and being the same process, it gets the
    terminal's and the system's signals itself.
    """
    sys.stdout.flush()
    os.chdir(paths.root)
    arguments = [sys.executable, "-m", "flows", str(paths.root), *(["--debug"] if session.debug else [])]
    os.execve(sys.executable, arguments, os.environ | flow_environment(paths, settings, session.debug))


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
