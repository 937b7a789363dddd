"""Flow runs of processes that were killed outright: Prefect believes them to be running for ever."""

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import StateType
from prefect.context import FlowRunContext
from prefect.states import Crashed


def close_dead_flow_runs() -> int:
    """Mark as crashed every running flow run but the current one; for the checkout's own Prefect database alone.

    Only the holder of the checkout writes there, so whatever else seems to run in it is dead.
    """
    context = FlowRunContext.get()
    assert context is not None
    assert context.flow_run is not None
    running = FlowRunFilter.model_validate({"state": {"type": {"any_": [StateType.RUNNING, StateType.PENDING]}}})
    with get_client(sync_client=True) as client:
        dead = [run.id for run in client.read_flow_runs(flow_run_filter=running) if run.id != context.flow_run.id]
        for run_id in dead:
            client.set_flow_run_state(run_id, Crashed(message="the process was killed"), force=True)
    return len(dead)
