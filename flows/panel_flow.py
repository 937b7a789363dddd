"""The expert review of the candidates, the release of what reviewers take, and its data card.

DVC decides what has to be done. Alone: `python -m flows.panel_flow`; without Prefect: `eviflow stage panel`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import build_data, publish_card


@flow(name="panel", flow_run_name="panel")
def panel(request: StageRequest = HERE) -> StageOutcome:
    """Bring stage `panel` up to date, and show what was released."""
    outcome = build_data("panel", request)
    publish_card(request, outcome.run_id)
    return outcome


if __name__ == "__main__":
    stop_politely()
    panel()
