"""The admission funnel of teacher episodes as a table of a run."""

import json

from mlflow.utils.mlflow_tags import MLFLOW_LOGGED_ARTIFACTS

from components.records.admission import AdmissionFunnel
from components.tracking.runs import set_tags
from components.tracking.store import Store

ARTIFACT = "admission_funnel.json"


def log_funnel(store: Store, run_id: str, funnel: AdmissionFunnel) -> None:
    """Log the funnel as MLflow's `log_table` would, but in place of an earlier one: a run may be taken up again."""
    lines = funnel.table()
    titles = list(lines[0])
    store.client.log_dict(run_id, {"columns": titles, "data": [list(line.values()) for line in lines]}, ARTIFACT)
    # By this tag MLflow's pages and `load_table` find a run's tables.
    known = json.loads(store.client.get_run(run_id).data.tags.get(MLFLOW_LOGGED_ARTIFACTS, "[]"))
    table = {"path": ARTIFACT, "type": "table"}
    if table not in known:
        set_tags(store, run_id, {MLFLOW_LOGGED_ARTIFACTS: json.dumps([*known, table])})
