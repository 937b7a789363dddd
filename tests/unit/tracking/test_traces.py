from pathlib import Path

from tracking_samples import episode

from components.records.image_bank import ImageBank
from components.tracking.runs import open_run
from components.tracking.store import Store
from components.tracking.traces import JudgedEpisode, log_investigation, log_traces


def judged(number: int, bank: ImageBank) -> JudgedEpisode:
    return JudgedEpisode(
        episode(number, bank), {"gold": "refuted"}, {"correct": True, "strong": False}, "ok", "rules/1"
    )


def test_a_trace_tells_the_whole_investigation(store: Store, tmp_path: Path) -> None:
    bank = ImageBank(tmp_path / "bank")
    run_id = open_run(store, "evaluate", "identity")

    assert log_traces(store, run_id, [judged(1, bank)], bank) == 1

    [trace] = store.client.search_traces(locations=[store.experiment_id], run_id=run_id)
    root, *steps = trace.data.spans
    assert (root.name, root.span_type) == ("investigate", "AGENT")
    assert [span.name for span in steps] == ["tool_0", "tool_1", "tool_2", "visit", "report"]
    assert [span.span_type for span in steps] == ["TOOL", "TOOL", "TOOL", "TOOL", "CHAIN"]
    assert all(span.parent_id == root.span_id for span in steps)
    assert steps[0].inputs == {"thought": "look", "arguments": {"query": "harvest gala"}}
    assert steps[0].outputs["text"] == "o1\nresult of tool_0"
    assert steps[3].status.description == "infrastructure"
    assert trace.info.tags["verdict"] == "refuted"
    assert trace.info.tags["gold"] == "refuted"
    assert {item.name: item.value for item in trace.info.assessments} == {"correct": True, "strong": False}
    assert trace.info.execution_duration == 2000


def test_pictures_of_a_trace_can_be_fetched_again(store: Store, tmp_path: Path) -> None:
    from mlflow.tracing.attachments import Attachment

    bank = ImageBank(tmp_path / "bank")
    run_id = open_run(store, "evaluate", "identity")
    log_traces(store, run_id, [judged(1, bank)], bank)

    [trace] = store.client.search_traces(locations=[store.experiment_id], run_id=run_id)
    reference = Attachment.parse_ref(trace.data.spans[0].inputs["picture"])
    assert reference is not None
    folder = Path(trace.info.tags["mlflow.artifactLocation"].removeprefix("file://"))
    kept = folder / "attachments" / str(reference["attachment_id"])
    assert kept.read_bytes() == bank.read(episode(1, bank).case.image_sha256)


def test_traces_are_not_written_twice_after_a_kill(store: Store, tmp_path: Path) -> None:
    bank = ImageBank(tmp_path / "bank")
    run_id = open_run(store, "evaluate", "identity")
    log_traces(store, run_id, [judged(1, bank), judged(2, bank)], bank)

    assert log_traces(store, run_id, [judged(number, bank) for number in (1, 2, 3)], bank) == 1
    found = store.client.search_traces(locations=[store.experiment_id], run_id=run_id)
    assert sorted(trace.info.client_request_id for trace in found) == [f"case-{n}--sft--s1" for n in (1, 2, 3)]


def test_a_trace_that_a_kill_left_without_spans_is_replaced(store: Store, tmp_path: Path) -> None:
    from mlflow.tracing.client import TracingClient

    from components.tracking.spans import build_trace

    bank = ImageBank(tmp_path / "bank")
    run_id = open_run(store, "evaluate", "identity")
    TracingClient(store.uri).start_trace(build_trace(episode(1, bank), store.experiment_id, run_id).info)

    assert log_traces(store, run_id, [judged(1, bank)], bank) == 1
    [trace] = store.client.search_traces(locations=[store.experiment_id], run_id=run_id)
    assert len(trace.data.spans) == 6


def test_hundreds_of_traces_are_all_found_again(store: Store, tmp_path: Path) -> None:
    bank = ImageBank(tmp_path / "bank")
    run_id = open_run(store, "evaluate", "identity")
    items = [judged(number, bank) for number in range(90)]
    assert log_traces(store, run_id, items, bank) == 90
    assert log_traces(store, run_id, items, bank) == 0


def test_an_investigation_by_itself_has_a_trace_of_no_run(store: Store, tmp_path: Path) -> None:
    bank = ImageBank(tmp_path / "bank")
    url = log_investigation(store, episode(7, bank), bank)

    assert url == f"http://127.0.0.1:5000/#/experiments/{store.experiment_id}/traces"
    [trace] = store.client.search_traces(locations=[store.experiment_id])
    assert trace.info.client_request_id == "case-7--sft--s1"
    assert "mlflow.sourceRun" not in trace.info.trace_metadata
    assert len(trace.data.spans) == 6
