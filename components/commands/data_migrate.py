"""`eviflow data migrate`: episodes that an earlier version has written, in today's layout."""

import json

import typer

from components.commands.session import Session

EXAMPLE = "Example:\n\n    eviflow data migrate"


def migrate(context: typer.Context) -> None:
    """Write episodes of an earlier layout anew, and let DVC keep them as what their stages made.

    Nothing has to be migrated to be read. Episodes of the evaluation stay as they are: they are told by their bytes.
    """
    from components.records.admitted import ADMITTED, later_phases
    from components.records.migrate import is_current, migrate_episodes
    from components.storage.atomic import write_json
    from components.storage.dvc import commit, outs
    from components.storage.lock import hold_checkout

    session: Session = context.obj
    paths = session.paths
    made = {
        "episodes": [paths.episodes],
        "review": [paths.reviewed / ADMITTED],
        "reroll": [*later_phases(paths), paths.rerolled / ADMITTED],
    }
    stages = {stage: [place for place in places if place.exists()] for stage, places in made.items()}
    marker = paths.work / "migrating.json"
    with hold_checkout(paths.work, "eviflow data migrate"):
        begun = json.loads(marker.read_bytes()) if marker.exists() else []
        old = [stage for stage, places in stages.items() if stage in begun or not all(map(is_current, places))]
        # A kill between writing and telling DVC would leave data that DVC takes for somebody's changes.
        write_json(marker, old)
        for stage in old:
            for place in stages[stage]:
                if count := migrate_episodes(place):
                    typer.echo(f"{place.relative_to(paths.root)}: {count} episodes written anew")
            if outs(paths.root, stage):
                commit(paths.root, stage)
        marker.unlink()
        typer.echo("all episodes are of the current layout")
