"""The untrained student with its tokenizer and chat template.

DVC decides what has to be done. Alone: `python -m flows.policy_flow`; without Prefect: `eviflow stage policy`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import build_data


@flow(name="policy", flow_run_name="policy")
def policy(request: StageRequest = HERE) -> StageOutcome:
    """Bring stage `policy` up to date."""
    return build_data("policy", request)


if __name__ == "__main__":
    stop_politely()
    policy()
