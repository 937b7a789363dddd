"""What must be known before the first case is drawn: which cases are planned, and what is documented of each."""

from collections.abc import Sequence
from typing import NamedTuple

from components.config.paths import Paths
from components.config.schema import Params
from components.curation.collecting.collect import Collection
from components.curation.curator.research import Research, research_topics
from components.curation.evidence import topics_of
from components.curation.plan import CasePlan, plan_cases
from components.world.entities import Facts


class Prepared(NamedTuple):
    """Plans, and what they are made from."""

    facts: Facts
    plans: Sequence[CasePlan]
    research: Research
    collection: Collection = Collection()


def prepare(facts: Facts, params: Params, paths: Paths, collection: Collection | None = None) -> Prepared:
    """Plan every case, and let the curation agent research every event that a case is made from.

    What was found on the web, `collection`, makes as many cases as are to be collected.

    Raises:
        EviflowError: the world is not built.

    """
    collection = collection or Collection()
    plans = plan_cases(facts, params.benchmark, collection.offered)
    return Prepared(facts, plans, research_topics(topics_of(plans, facts), params, paths), collection)
