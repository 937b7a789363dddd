"""`eviflow data migrate`: episodes that an earlier version has written, in today's layout."""

import typer

from components.commands.session import Session

EXAMPLE = "Example:\n\n    eviflow data migrate"


def migrate(context: typer.Context) -> None:
    """Write episodes of an earlier layout anew, and let DVC keep them as what their stages made.

    Nothing has to be migrated to be read. Episodes of the evaluation stay as they are: they are told by their bytes.
    """
    from components.records.admitted import ADMITTED, later_phases
    from components.records.migrate import migrate_episodes
    from components.storage.dvc import commit, outs
    from components.storage.lock import hold_checkout

    session: Session = context.obj
    paths = session.paths
    stages = {
        "episodes": [paths.episodes],
        "review": [paths.reviewed / ADMITTED],
        "reroll": [*later_phases(paths), paths.rerolled / ADMITTED],
    }
    with hold_checkout(paths.work, "eviflow data migrate"):
        for stage, places in stages.items():
            written = {place: migrate_episodes(place) for place in places if place.exists()}
            for place, count in written.items():
                if count:
                    typer.echo(f"{place.relative_to(paths.root)}: {count} episodes written anew")
            if any(written.values()) and outs(paths.root, stage):
                commit(paths.root, stage)
        typer.echo("all episodes are of the current layout")
