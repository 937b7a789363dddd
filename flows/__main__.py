"""`python -m flows ROOT`: the whole chain in this process. `eviflow run` becomes this, with Prefect's settings set."""

import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from components.commands.finished import RunState, pipeline_identity, save_state
from components.commands.session import Session, guarded
from components.commands.summary import show_summary
from components.config.load import load_params
from components.storage.identity import digest_file
from components.storage.lock import TOKEN_VARIABLE, hold_checkout
from flows.console import say
from flows.contract import StageRequest
from flows.leftover import end_leftover_server
from flows.stop import stop_politely


def run_chain(session: Session) -> None:
    """Hold the checkout, run the flow, and say where everything is."""
    started, paths = time.monotonic(), session.paths
    params = load_params(paths.params)
    with hold_checkout(paths.work, "eviflow run") as holder:
        os.environ[TOKEN_VARIABLE] = holder.token
        end_leftover_server(paths)
        say("starting Prefect and MLflow (10 to 30 s)")
        from flows.full_flow import full

        outcome = full(StageRequest(root=str(paths.root)))
        state = RunState(
            identity=pipeline_identity(params, paths),
            dvc_lock_sha256=digest_file(paths.root / "dvc.lock"),
            run_id=outcome.run_id,
            run_url=outcome.run_url,
            seconds=time.monotonic() - started,
            finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        save_state(paths, state)
    show_summary(state, paths)


def main() -> None:
    """Run and exit, like the command line does."""
    stop_politely()
    root, *options = sys.argv[1:]
    session = Session(Path(root), "--debug" in options)
    sys.exit(guarded(session, lambda: run_chain(session)))


if __name__ == "__main__":
    main()
