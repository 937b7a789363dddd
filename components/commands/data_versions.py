"""`eviflow data log|verify|rollback`: the versions of the data, whether they are whole, and how to get one back."""

from typing import Annotated

import typer

from components.commands.session import Session

LOG_EXAMPLE = "Example:\n\n    eviflow data log --limit 5"
VERIFY_EXAMPLE = "Example:\n\n    eviflow data verify"
ROLLBACK_EXAMPLE = "Example:\n\n    eviflow data rollback HEAD~1 --dry-run"
SHOWN = 20
"""Lines about single objects before only their number is told."""


def log(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="Newest versions to show.", min=1)] = SHOWN,
) -> None:
    """List the versions of the data, newest first, and the MLflow runs trained on each."""
    from components.commands.data_show import show_versions
    from components.commands.trained import known_runs, runs_on
    from components.storage.git import require_git
    from components.storage.versions import list_versions, working_files

    session: Session = context.obj
    paths = session.paths
    require_git(paths.root)
    versions, runs = list_versions(paths.root, limit), known_runs(paths)
    show_versions([(version, runs_on(version, runs)) for version in versions], working_files(paths.root))


def verify(
    context: typer.Context,
    revision: Annotated[
        str | None, typer.Argument(metavar="[REV]", help="A commit; the checkout as it is when not given.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Missing or damaged objects to name.", min=1)] = SHOWN,
) -> None:
    """Check every object, existence and content, here and in the remote."""
    from components.commands.data_show import show_faults
    from components.errors import EviflowError
    from components.storage.verify import verify_objects

    session: Session = context.obj
    checked = verify_objects(session.paths.root, revision)
    show_faults(checked.faults, limit)
    places = " and ".join(checked.places)
    if checked.faults:
        raise EviflowError(
            f"{len(checked.faults)} faults in {checked.objects} objects {places}; "
            "`dvc push` or `dvc fetch` what is missing, after deleting what is damaged"
        )
    typer.echo(f"{checked.objects} objects are whole {places}")


def rollback(
    context: typer.Context,
    revision: Annotated[str, typer.Argument(metavar="REV", help="A commit, branch or tag; see `eviflow data log`.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False,
) -> None:
    """Bring the data and settings of a commit back, if every object of it is to be had; else change nothing."""
    from components.commands.data_show import show_faults, show_plan
    from components.commands.trained import known_runs, runs_on
    from components.storage.rollback import ObjectsMissing, plan_rollback, roll_back

    session: Session = context.obj
    paths = session.paths
    try:
        plan = plan_rollback(paths.root, revision) if dry_run else roll_back(paths, revision)
    except ObjectsMissing as error:
        show_faults(error.faults, SHOWN)
        raise
    show_plan(plan, runs_on(plan.version, known_runs(paths)), dry_run=dry_run)
