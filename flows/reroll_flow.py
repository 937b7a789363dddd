"""Further investigations of the cases that have no admitted teacher episode yet.

DVC decides what has to be done. Alone: `python -m flows.reroll_flow`; without Prefect: `eviflow stage reroll`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import build_data, publish_funnel


@flow(name="reroll", flow_run_name="reroll")
def reroll(request: StageRequest = HERE) -> StageOutcome:
    """Bring stage `reroll` up to date, and show what each gate rejected in each phase."""
    outcome = build_data("reroll", request)
    publish_funnel("reroll", request, outcome.run_id)
    return outcome


if __name__ == "__main__":
    stop_politely()
    reroll()
