"""An episode in MLflow's words: one trace of spans. Pure; nothing is written here."""

import base64
import json
import secrets
import uuid
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from mlflow.entities import Span, SpanType, TraceInfo, TraceLocation, TraceState
from mlflow.tracing.constant import TRACE_SCHEMA_VERSION_KEY, SpanAttributeKey, TraceMetadataKey, TraceTagKey

from components.records.episode import Episode, Step, StepKind

NANO = 1_000_000_000


class Picture(NamedTuple):
    """A picture that a span refers to, and that is stored beside the trace."""

    attachment_id: str
    sha256: str


class TracedEpisode(NamedTuple):
    """Everything that is written for one episode."""

    info: TraceInfo
    spans: list[Span]
    pictures: list[Picture]


class _Builder:
    """Makes the spans of one trace; keeps its ids and the pictures that they refer to."""

    def __init__(self) -> None:
        self.key = secrets.token_bytes(16)
        self.trace_id = f"tr-{self.key.hex()}"
        self.pictures: list[Picture] = []

    def picture(self, sha256: str) -> str:
        """A reference that the MLflow UI shows as the picture itself."""
        picture = Picture(str(uuid.uuid4()), sha256)
        self.pictures.append(picture)
        query = urlencode({"content_type": "image/png", "trace_id": self.trace_id})
        return f"mlflow-attachment://{picture.attachment_id}?{query}"

    def span(
        self,
        name: str,
        kind: str,
        given: Any,
        result: Any,
        window: tuple[int, int],
        *,
        parent: bytes | None = None,
        key: bytes | None = None,
        failed: str = "",
        **attributes: Any,
    ) -> Span:
        """One finished span; `window` is its start and end in nanoseconds since the epoch."""
        own = {
            SpanAttributeKey.REQUEST_ID: self.trace_id,
            SpanAttributeKey.SPAN_TYPE: kind,
            SpanAttributeKey.INPUTS: given,
            SpanAttributeKey.OUTPUTS: result,
        }
        return Span.from_dict(
            {
                "trace_id": _text(self.key),
                "span_id": _text(key or secrets.token_bytes(8)),
                "parent_span_id": _text(parent) if parent else None,
                "name": name,
                "start_time_unix_nano": window[0],
                "end_time_unix_nano": window[1],
                "events": [],
                "links": [],
                "status": {"code": "STATUS_CODE_ERROR" if failed else "STATUS_CODE_OK", "message": failed},
                "attributes": {name: json.dumps(value) for name, value in (own | attributes).items()},
            }
        )


def build_trace(episode: Episode, experiment_id: str, run_id: str | None) -> TracedEpisode:
    """The trace of one episode, of a run or of none; steps share the episode's time by their measured tool times."""
    builder, root = _Builder(), secrets.token_bytes(8)
    start = int(datetime.fromisoformat(episode.started_at).timestamp() * NANO)
    end = start + int(episode.duration_s * NANO)
    given = {"case": episode.case.case_id, "picture": builder.picture(episode.case.image_sha256)}
    report = episode.report.model_dump(mode="json") if episode.report else {"report": None}
    spans = [
        builder.span(
            "investigate",
            SpanType.AGENT,
            given,
            report | {"termination": episode.termination.value},
            (start, end),
            key=root,
            failed="" if episode.report else f"no report: {episode.termination.value}",
        )
    ]
    for step, window in _timed(episode, start, end):
        spans.append(_step_span(builder, step, window, root))
    return TracedEpisode(_info(builder, episode, experiment_id, run_id, start, end), spans, builder.pictures)


def _step_span(builder: _Builder, step: Step, window: tuple[int, int], root: bytes) -> Span:
    """A TOOL span for a call; what was refused, finished or reported is a CHAIN span of the model's turn."""
    if step.kind is not StepKind.ACTION or step.call is None or step.observation is None:
        result = {"text": step.turn.text, "feedback": step.feedback}
        failed = step.feedback if step.kind is StepKind.CORRECTION else ""
        return builder.span(step.kind.value, SpanType.CHAIN, {}, result, window, parent=root, failed=failed)
    seen = step.observation
    return builder.span(
        step.call.name,
        SpanType.TOOL,
        {"thought": step.thought, "arguments": json.loads(step.call.arguments_json)},
        {"observation": seen.observation_id, "text": seen.text, "pictures": [builder.picture(d) for d in seen.images]},
        window,
        parent=root,
        failed="" if seen.succeeded else str(seen.failure),
        cache_hit=seen.cache_hit,
        source_url=seen.source_url,
    )


def _timed(episode: Episode, start: int, end: int) -> list[tuple[Step, tuple[int, int]]]:
    """Each step with its start and end: tool times as measured, the rest of the episode spread before each step."""
    tools = [int((step.observation.duration_s if step.observation else 0.0) * NANO) for step in episode.steps]
    pause = max(0, end - start - sum(tools)) // max(1, len(tools))
    timed, clock = [], start
    for step, tool in zip(episode.steps, tools, strict=True):
        clock = min(clock + pause, end)
        timed.append((step, (clock, min(clock + tool, end))))
        clock += tool
    return timed


def _info(
    builder: _Builder, episode: Episode, experiment_id: str, run_id: str | None, start: int, end: int
) -> TraceInfo:
    of_run = {TraceMetadataKey.SOURCE_RUN: run_id} if run_id else {}
    verdict = episode.report.verdict.value if episode.report else "none"
    return TraceInfo(
        trace_id=builder.trace_id,
        trace_location=TraceLocation.from_experiment_id(experiment_id),
        request_time=start // 1_000_000,
        execution_duration=(end - start) // 1_000_000,
        state=TraceState.OK if episode.report else TraceState.ERROR,
        client_request_id=episode.episode_id,
        request_preview=episode.case.case_id,
        response_preview=f"{verdict}: {episode.report.explanation}" if episode.report else episode.termination.value,
        trace_metadata=of_run | {TRACE_SCHEMA_VERSION_KEY: "3"},
        tags={
            TraceTagKey.TRACE_NAME: "investigate",
            "case": episode.case.case_id,
            "policy": episode.policy,
            "verdict": verdict,
        },
    )


def _text(key: bytes) -> str:
    return base64.b64encode(key).decode()
