"""The teacher's episodes that are worth learning from.

DVC decides what has to be done. Alone: `python -m flows.review_flow`; without Prefect: `eviflow stage review`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import build_data, publish_funnel


@flow(name="review", flow_run_name="review")
def review(request: StageRequest = HERE) -> StageOutcome:
    """Bring stage `review` up to date, and show what each gate rejected."""
    outcome = build_data("review", request)
    publish_funnel("review", request, outcome.run_id)
    return outcome


if __name__ == "__main__":
    stop_politely()
    review()
