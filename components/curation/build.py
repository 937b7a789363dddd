"""The two stages that make data out of parameters: the closed world, and EviLens-F."""

from pydantic import BaseModel

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.web import write_web
from components.storage.atomic import replace_folder, write_json
from components.world.facts import build_facts


class WorldSummary(BaseModel):
    """What stage `world` built."""

    people: int
    events: int
    """Events that cases are made from."""
    near_misses: int
    pages: int
    pictures: int


def build_world(params: Params, paths: Paths) -> WorldSummary:
    """Build the closed world: facts (private), pages and pictures (public).

    Equal parameters give equal bytes. The public folder appears whole or not at all.

    Raises:
        UsageError: more events are asked for than names can tell apart.

    """
    facts = build_facts(params.world)
    with replace_folder(paths.web) as folder:
        pages, pictures = write_web(facts, params.world, folder)
        write_json(paths.facts, facts)
    main = len(facts.main_events)
    return WorldSummary(
        people=len(facts.people), events=main, near_misses=len(facts.events) - main, pages=pages, pictures=pictures
    )
