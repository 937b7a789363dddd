import json
from pathlib import Path

from components.records.admission import PhaseCounts, funnel_of
from components.tracking.funnels import ARTIFACT, log_funnel
from components.tracking.runs import open_run, set_tags
from components.tracking.store import Store


def counts(kept: int) -> PhaseCounts:
    return PhaseCounts(targets=3, collected=kept, rejected={}, admitted=kept, surplus=0, kept=kept, covered=1)


def table_of(store: Store, run_id: str) -> list[dict[str, object]]:
    table = json.loads(Path(store.client.download_artifacts(run_id, ARTIFACT)).read_text("utf-8"))
    return [dict(zip(table["columns"], line, strict=True)) for line in table["data"]]


def test_a_run_that_is_taken_up_again_has_the_newest_funnel_alone(store: Store) -> None:
    run_id = open_run(store, "review", "identity")
    set_tags(store, run_id, {"mlflow.loggedArtifacts": json.dumps([{"path": "other.json", "type": "table"}])})
    log_funnel(store, run_id, funnel_of({"attempt-01": counts(2)}))
    newest = funnel_of({"attempt-01": counts(2), "attempt-02": counts(1)})
    log_funnel(store, run_id, newest)
    assert table_of(store, run_id) == newest.table()
    known = json.loads(store.client.get_run(run_id).data.tags["mlflow.loggedArtifacts"])
    assert known == [{"path": "other.json", "type": "table"}, {"path": ARTIFACT, "type": "table"}]
