"""Traces of judged episodes in SQLite: whole traces in batches, as `components.tracking.traces` writes them, against
MLflow's fluent tracing. Both write the same spans and the picture of the case.

.venv/bin/python benchmarks/trace_time.py 360
"""

import io
import sys
import tempfile
import time
from pathlib import Path

import mlflow
from mlflow.entities import SpanType
from mlflow.tracing.attachments import Attachment
from PIL import Image

from components.config.paths import Paths
from components.config.settings import Settings
from components.records.case import Case, Verdict
from components.records.episode import Episode, Observation, Report, Step, StepKind, Termination, ToolCall, Turn
from components.records.image_bank import ImageBank
from components.tracking.runs import open_run
from components.tracking.store import Store, open_store
from components.tracking.traces import JudgedEpisode, log_traces

CALLS = 8


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((320, 240), 60).convert("RGB").save(buffer, "PNG")
    return buffer.getvalue()


def step(index: int) -> Step:
    seen = Observation(observation_id=f"o{index}", tool="visit", status="success", text="passage " * 40)
    call = ToolCall(name="visit", arguments_json='{"url": "https://a.example/1"}')
    return Step(
        index=index,
        kind=StepKind.ACTION,
        turn=Turn(text="<think>\nlook\n</think>"),
        thought="look",
        call=call,
        observation=seen,
    )


def episode(number: int, digest: str) -> Episode:
    return Episode(
        episode_id=f"case-{number}",
        case=Case(case_id=f"case-{number}", image_path="a.png", image_sha256=digest),
        policy="sft",
        seed=1,
        exposed_tools=("visit",),
        action_budget=24,
        steps=tuple(step(index) for index in range(CALLS)),
        report=Report(verdict=Verdict.REFUTED, explanation="the date differs", cited=("o1",)),
        termination=Termination.FINISHED,
        started_at="2031-03-12T10:00:00+00:00",
        duration_s=2.0,
    )


def batched(store: Store, bank: ImageBank, digest: str, count: int) -> float:
    run_id = open_run(store, "evaluate", "batched")
    items = [
        JudgedEpisode(episode(n, digest), {}, {"correct": True, "strong": True}, "ok", "rules") for n in range(count)
    ]
    started = time.perf_counter()
    log_traces(store, run_id, items, bank)
    return time.perf_counter() - started


def fluent(store: Store, bank: ImageBank, digest: str, count: int) -> float:
    mlflow.set_tracking_uri(store.uri)
    data, experiment = bank.read(digest), store.experiment_id
    started = time.perf_counter()
    for number in range(count):
        given = {"case": number, "picture": Attachment(content_type="image/png", content_bytes=data)}
        root = mlflow.start_span_no_context("investigate", SpanType.AGENT, inputs=given, experiment_id=experiment)
        for _ in range(CALLS):
            span = mlflow.start_span_no_context("visit", SpanType.TOOL, parent_span=root, inputs={"url": "u"})
            span.end(outputs={"text": "passage " * 40})
        root.end(outputs={"verdict": "refuted"})
    mlflow.flush_trace_async_logging()
    return time.perf_counter() - started


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 360
    with tempfile.TemporaryDirectory() as folder:
        paths = Paths(Path(folder))
        store, bank = open_store(paths, "benchmark", Settings()), ImageBank(paths.root / "bank")
        digest = bank.put(picture())
        ours = batched(store, bank, digest, count)
        print(f"batched: {count} traces of {CALLS + 1} spans in {ours:.1f} s, {1000 * ours / count:.0f} ms each")
        few = max(1, count // 6)
        theirs = fluent(store, bank, digest, few)
        print(f"fluent:  {few} traces of {CALLS + 1} spans in {theirs:.1f} s, {1000 * theirs / few:.0f} ms each")


if __name__ == "__main__":
    main()
