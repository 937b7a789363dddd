"""What episodes cost, as metrics of a run and as a file beside them."""

from components.config.paths import Paths
from components.config.tools import PriceParams
from components.records.admitted import later_phases
from components.records.shards import iterate_episodes, read_episodes
from components.records.usage import Spent
from components.rollout.costs import CostTable, cost_metrics, cost_table
from components.rollout.spending import read_spent
from components.tracking.runs import log_metrics
from components.tracking.store import Store


def log_costs(store: Store, run_id: str, table: CostTable, stage: str) -> dict[str, float]:
    """Log `cost/<stage>/..` and `costs.json` to a run; returns the metrics."""
    metrics = cost_metrics(table, stage)
    log_metrics(store, run_id, metrics)
    store.client.log_dict(run_id, table.model_dump(mode="json"), "costs.json")
    return metrics


def teacher_costs(paths: Paths, prices: PriceParams) -> CostTable:
    """What the teacher's episodes in the checkout cost, at today's prices: they are no part of what DVC keeps."""
    return cost_table(read_episodes(paths.episodes), read_spent(paths.episodes), prices)


def reroll_costs(paths: Paths, prices: PriceParams) -> CostTable:
    """The same of all later phases together."""
    folders = later_phases(paths)
    episodes = [episode for folder in folders for episode in iterate_episodes(folder)]
    return cost_table(episodes, sum(map(read_spent, folders), Spent()), prices)
