"""`eviflow run`: the whole chain as a Prefect flow, or nothing at all where nothing has changed."""

import os
import sys

import typer

from components.commands.session import Session
from components.config.flow_environment import flow_environment
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
