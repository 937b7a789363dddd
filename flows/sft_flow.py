"""Supervised fine-tuning of the student on the rows of the reviewed episodes (EviScene's first training step).

One process does the work. Alone: `python -m flows.sft_flow`; without Prefect: `eviflow stage sft`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import run_process


@flow(name="sft", flow_run_name="sft")
def sft(request: StageRequest = HERE) -> StageOutcome:
    """Train the student, log it, and register it as candidate."""
    return run_process("sft", request)


if __name__ == "__main__":
    stop_politely()
    sft()
