"""Versions, faults and rollbacks as text."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer
from rich.filesize import decimal

from components.storage.objects import Fault
from components.storage.rollback import Plan
from components.storage.versions import LOCK, Version

if TYPE_CHECKING:
    from components.tracking.trained import TrainedRun

FILES_SHOWN = 10


def show_versions(rows: Sequence[tuple[Version, Sequence["TrainedRun"]]], now: Mapping[str, bytes]) -> None:
    """One line for each version, with the runs trained on it below; a star where the checkout is at it."""
    if not rows:
        typer.echo("no commit has a dvc.lock yet; `eviflow run`, then commit it")
    data = _pointers(now)
    for version, runs in rows:
        star = "*" if _pointers(version.files) == data else " "
        typer.echo(
            f"{star} {version.short}  {version.date[:16].replace('T', ' ')}  {version.digest[:12]}  {_counts(version)}"
        )
        typer.echo(f"    {version.subject}")
        for run in runs:
            typer.echo(f"    trained: {run}")
    if rows and all(_pointers(version.files) != data for version, _ in rows):
        typer.echo("the checkout is at none of these versions")


def show_faults(faults: Sequence[Fault], limit: int) -> None:
    """One line for each, and how many more there are."""
    for fault in faults[:limit]:
        typer.echo(str(fault))
    if len(faults) > limit:
        typer.echo(f"... and {len(faults) - limit} more")


def show_plan(plan: Plan, runs: Sequence["TrainedRun"], *, dry_run: bool) -> None:
    """What was done, or would be, and the models trained on the version."""
    would = "would be " if dry_run else ""
    version = plan.version
    typer.echo(f"{version.short}  {version.date[:16].replace('T', ' ')}  {version.subject}")
    typer.echo(f"all {plan.objects} objects are to be had, {len(plan.fetched)} of them from the remote")
    for name, content in plan.switched.items():
        typer.echo(f"{would}{'removed' if content is None else 'switched'}: {name}")
    _some(f"{would}restored", [item.path for item in plan.restored])
    _some(f"{would}removed", plan.removed)
    if not plan.switched and not plan.restored and not plan.removed:
        typer.echo("the checkout is at this version already")
    for run in runs:
        typer.echo(f"trained on it: {run}")
    if not runs:
        typer.echo("no tracked run was trained on it")
    if plan.switched and not dry_run:
        typer.echo(f"commit {', '.join(plan.switched)} to stay there")


def _some(what: str, names: Sequence[str]) -> None:
    for name in names[:FILES_SHOWN]:
        typer.echo(f"{what}: {name}")
    if len(names) > FILES_SHOWN:
        typer.echo(f"{what}: {len(names) - FILES_SHOWN} files more")


def _counts(version: Version) -> str:
    if version.problem:
        return version.problem
    outs = version.outs
    files = sum(out.files for out in outs)
    return f"{len(outs)} outputs  {files} {'file' if files == 1 else 'files'}  {decimal(sum(out.size for out in outs))}"


def _pointers(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name == LOCK or name.endswith(".dvc")}
