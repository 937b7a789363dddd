"""The closed world: facts, pages and pictures, all drawn from a seed.

DVC decides what has to be done. Alone: `python -m flows.world_flow`; without Prefect: `eviflow stage world`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import build_data


@flow(name="world", flow_run_name="world")
def world(request: StageRequest = HERE) -> StageOutcome:
    """Bring stage `world` up to date."""
    return build_data("world", request)


if __name__ == "__main__":
    stop_politely()
    world()
