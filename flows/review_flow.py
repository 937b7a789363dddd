"""The teacher's episodes that are worth learning from.

DVC decides what has to be done. Alone: `python -m flows.review_flow`; without Prefect: `eviflow stage review`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import build_data


@flow(name="review", flow_run_name="review")
def review(request: StageRequest = HERE) -> StageOutcome:
    """Bring stage `review` up to date."""
    return build_data("review", request)


if __name__ == "__main__":
    stop_politely()
    review()
