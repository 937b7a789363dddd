"""Candidates for EviLens-F: pictures of the world's events, faithful or altered, screened and split.

DVC decides what has to be done. Alone: `python -m flows.benchmark_flow`; without Prefect: `eviflow stage benchmark`.
"""

from prefect import flow

from flows.contract import HERE, StageOutcome, StageRequest
from flows.stop import stop_politely
from flows.tasks import build_data


@flow(name="benchmark", flow_run_name="benchmark")
def benchmark(request: StageRequest = HERE) -> StageOutcome:
    """Bring stage `benchmark` up to date."""
    return build_data("benchmark", request)


if __name__ == "__main__":
    stop_politely()
    benchmark()
