"""Investigations of the test cases by every system, judged and compared.

One process does the work. Alone: `python -m flows.evaluation_flow`; without Prefect: `eviflow stage evaluate`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import run_process


@flow(name="evaluation", flow_run_name="evaluation")
def evaluation(request: StageRequest = HERE) -> StageOutcome:
    """Evaluate every system, and log numbers, report and traces."""
    return run_process("evaluate", request)


if __name__ == "__main__":
    stop_politely()
    evaluation()
