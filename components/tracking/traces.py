"""Judged episodes as MLflow traces: an AGENT span over one TOOL span for each call, with pictures and judgement.

Whole traces are written at once, many in one transaction. MLflow's fluent tracing writes every span by itself and
drops spans when its queue is full; on SQLite this way is six times faster (see `benchmarks/trace_time.py`).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from mlflow.entities import Assessment, AssessmentSource, AssessmentSourceType, Feedback, Span, TraceInfo
from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository
from mlflow.tracing.client import TracingClient
from mlflow.tracing.constant import TraceTagKey

from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.tracking.spans import Picture, TracedEpisode, build_trace
from components.tracking.store import Store

BATCH = 40
"""Traces written in one transaction."""


class JudgedEpisode(NamedTuple):
    """An episode and what the judge says about it."""

    episode: Episode
    tags: Mapping[str, str]
    """What to filter on: verdict, gold verdict, quality, reason."""
    scores: Mapping[str, bool]
    """Shown as assessments: `correct`, `strong`."""
    rationale: str
    """The judge's sentence."""
    judge: str
    """Its name and version."""


def log_traces(store: Store, run_id: str, episodes: Iterable[JudgedEpisode], bank: ImageBank) -> int:
    """Write a trace for each episode that has none in this run yet; returns how many were written."""
    known = _logged_episodes(store, run_id)
    fresh = (item for item in episodes if item.episode.episode_id not in known)
    written = 0
    for chunk in _chunks(fresh, BATCH):
        traces = [build_trace(item.episode, store.experiment_id, run_id) for item in chunk]
        for item, trace in zip(chunk, traces, strict=True):
            _describe(trace.info, item)
        _write(store, traces, bank)
        written += len(chunk)
    return written


def log_investigation(store: Store, episode: Episode, bank: ImageBank) -> str:
    """Write the trace of an investigation that belongs to no run; returns where the MLflow UI shows it."""
    _write(store, [build_trace(episode, store.experiment_id, None)], bank)
    return store.traces_url


def _write(store: Store, traces: Iterable[TracedEpisode], bank: ImageBank) -> None:
    """Write traces; the spans of all of them in one transaction."""
    client = TracingClient(store.uri)
    spans: list[Span] = []
    for trace in traces:
        _upload(client.start_trace(trace.info), trace.pictures, bank)
        spans.extend(trace.spans)
    client.log_spans(store.experiment_id, spans)


def _logged_episodes(store: Store, run_id: str) -> set[str]:
    """Ids of the episodes whose traces the run has. One that a kill has left without spans is removed."""
    found = _trace_infos(store, run_id)
    torn = [info.trace_id for info in found if TraceTagKey.SPANS_LOCATION not in info.tags]
    for start in range(0, len(torn), 100):
        store.client.delete_traces(store.experiment_id, trace_ids=torn[start : start + 100])
    return {info.client_request_id for info in found if info.client_request_id and info.trace_id not in set(torn)}


def _trace_infos(store: Store, run_id: str) -> list[TraceInfo]:
    found: list[TraceInfo] = []
    token: str | None = None
    while True:
        page = store.client.search_traces(
            locations=[store.experiment_id], run_id=run_id, max_results=500, include_spans=False, page_token=token
        )
        found.extend(trace.info for trace in page)
        token = page.token
        if not token:
            return found


def _describe(info: TraceInfo, item: JudgedEpisode) -> None:
    source = AssessmentSource(AssessmentSourceType.CODE, item.judge)
    assessments: list[Assessment] = [
        Feedback(name=name, value=value, source=source, trace_id=info.trace_id, rationale=item.rationale)
        for name, value in item.scores.items()
    ]
    info.tags.update(item.tags)
    info.assessments = assessments


def _upload(info: TraceInfo, pictures: Iterable[Picture], bank: ImageBank) -> None:
    repository = get_artifact_repository(info.tags["mlflow.artifactLocation"])
    for picture in pictures:
        repository.upload_attachment(picture.attachment_id, bank.read(picture.sha256))


def _chunks(items: Iterable[JudgedEpisode], size: int) -> Iterator[list[JudgedEpisode]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
