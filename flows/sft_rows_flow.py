"""The reviewed episodes as training rows, with their statistics and the processor report.

DVC decides what has to be done. Alone: `python -m flows.sft_rows_flow`; without Prefect: `eviflow stage sft-rows`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import build_data


@flow(name="sft-rows", flow_run_name="sft-rows")
def sft_rows(request: StageRequest = HERE) -> StageOutcome:
    """Bring stage `sft-rows` up to date."""
    return build_data("sft-rows", request)


if __name__ == "__main__":
    stop_politely()
    sft_rows()
