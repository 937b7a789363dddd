"""The teacher's investigations of the training cases.

DVC decides what has to be done. Alone: `python -m flows.episodes_flow`; without Prefect: `eviflow stage episodes`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import build_data


@flow(name="episodes", flow_run_name="episodes")
def episodes(request: StageRequest = HERE) -> StageOutcome:
    """Bring stage `episodes` up to date."""
    return build_data("episodes", request)


if __name__ == "__main__":
    stop_politely()
    episodes()
