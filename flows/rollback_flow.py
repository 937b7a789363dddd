"""An earlier version of the data brought back, if every object of it is to be had.

Alone: `python -m flows.rollback_flow REV`; without Prefect: `eviflow data rollback REV`.
"""

import sys
from pathlib import Path

from prefect import flow, task
from prefect.artifacts import create_table_artifact
from prefect.cache_policies import NO_CACHE

from components.commands.trained import known_runs, runs_on
from components.config.paths import Paths
from components.storage.rollback import plan_rollback, roll_back
from flows.console import say
from flows.contract import RollbackOutcome, RollbackRequest
from flows.stop import stop_politely


@task(name="switch-data", task_run_name="switch-data", cache_policy=NO_CACHE)
def switch_data(request: RollbackRequest) -> RollbackOutcome:
    """Check that the version is whole, switch to it unless it is a dry run, and find what was trained on it."""
    paths = Paths(Path(request.root).resolve())
    plan = plan_rollback(paths.root, request.revision) if request.dry_run else roll_back(paths, request.revision)
    return RollbackOutcome(
        commit=plan.version.commit,
        objects=plan.objects,
        fetched=len(plan.fetched),
        switched=list(plan.switched),
        restored=len(plan.restored),
        trained=[str(run) for run in runs_on(plan.version, known_runs(paths))],
    )


@flow(name="rollback", flow_run_name="rollback-{request.revision}")
def rollback(request: RollbackRequest) -> RollbackOutcome:
    """Bring data and settings of a commit back, and show which models were trained on them."""
    outcome = switch_data(request)
    say(f"rollback: {'checked' if request.dry_run else 'at'} {outcome.commit[:8]}, {outcome.objects} objects whole")
    rows = [{"trained on it": line} for line in outcome.trained]
    create_table_artifact(rows, key="trained-on-version", description=f"Models trained on {outcome.commit[:8]}")
    return outcome


if __name__ == "__main__":
    stop_politely()
    rollback(RollbackRequest(revision=sys.argv[1]))
