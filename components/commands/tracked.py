"""Training and evaluation with everything about them logged to MLflow."""

import time
from collections.abc import Callable, Iterator

from components.commands.manifest import Manifest, stage_identity, write_manifest
from components.commands.stages import STAGES, StageSpec
from components.commands.training_progress import shown
from components.config.flatten import flat_params
from components.config.paths import Paths
from components.config.schema import Params
from components.config.settings import load_settings
from components.evaluation.judgment import Judgment
from components.evaluation.stage import CANDIDATE, EvaluationResult, SystemResult
from components.progress import Progress
from components.records.image_bank import ImageBank
from components.records.shards import read_episodes
from components.rollout.costs import joined
from components.storage.atomic import read_jsonl
from components.storage.dvc import Out, outs
from components.storage.identity import digest_tree
from components.tracking.costs import log_costs
from components.tracking.datasets import EVALUATION, TRAINING, log_datasets
from components.tracking.metrics import MetricStream
from components.tracking.models import find_model, log_checkpoint
from components.tracking.runs import closing, log_metrics, log_params, open_run, set_tags, sweep_orphans
from components.tracking.store import Store, open_store
from components.tracking.tags import identity_tags
from components.tracking.traces import JudgedEpisode, log_traces

SUITE = "evilens-f"


def run_tracked(spec: StageSpec, params: Params, paths: Paths, run_id: str | None = None) -> Manifest:
    """Run `sft` or `evaluate`, log it, and write its manifest last.

    Args:
        spec: the stage.
        params: all settings.
        paths: the checkout.
        run_id: an open run to log to; None begins or resumes a run of its own.

    """
    started = time.monotonic()
    store = open_store(paths, params.tracking.experiment, load_settings())
    identity = stage_identity(spec, params, paths)
    seed = getattr(params, "sft" if spec.name == "sft" else "evaluation").seed
    if run_id is None:
        sweep_orphans(store)
        run_id = open_run(store, spec.name, identity)
    with closing(store, run_id):
        set_tags(store, run_id, identity_tags(params, paths, seed))
        log_params(store, run_id, flat_params(params, spec.sections))
        log_datasets(store, run_id, _inputs(spec, paths), TRAINING if spec.name == "sft" else EVALUATION, {})
        metrics = TRACKED[spec.name](spec, params, paths, store, run_id)
    return write_manifest(spec, paths, identity, run_id, metrics, time.monotonic() - started)


def _inputs(spec: StageSpec, paths: Paths) -> list[Out]:
    """What the stage reads and DVC owns."""
    return [out for out in outs(paths.root) if out.path in spec.inputs]


def _sft(spec: StageSpec, params: Params, paths: Paths, store: Store, run_id: str) -> dict[str, float]:
    with (
        MetricStream(store, run_id, "train/loss", params.sft.checkpoint_steps) as stream,
        Progress(spec.name, params.sft.steps, "steps") as progress,
    ):
        metrics: dict[str, float] = spec.load()(params, paths, shown(progress, stream)).metrics
    log_metrics(store, run_id, metrics, params.sft.steps)
    recipe = flat_params(params, ("policy", "sft_rows", "sft"))
    tags = {"stage": spec.name, **identity_tags(params, paths, params.sft.seed)}
    checkpoint = log_checkpoint(store, paths.sft_policy, params.tracking.model_name, run_id, tags, recipe)
    set_tags(store, run_id, {"model": f"models:/{checkpoint.name}/{checkpoint.version}"})
    return metrics


def _evaluate(spec: StageSpec, params: Params, paths: Paths, store: Store, run_id: str) -> dict[str, float]:
    result: EvaluationResult = spec.load()(params, paths)
    bank = ImageBank(paths.evaluation, also=[paths.benchmark, paths.web])
    model_id = find_model(store, digest_tree(paths.sft_policy))
    for name, system in result.systems.items():
        child = open_run(store, f"{spec.name}/{name}", run_id, parent=run_id, name=system.title)
        with closing(store, child):
            set_tags(store, child, {"system": name, **identity_tags(params, paths, params.evaluation.seed)})
            log_metrics(store, child, suite_metrics(system), model_id=model_id if name == CANDIDATE else None)
            log_costs(store, child, result.costs[name], "evaluation")
            log_traces(store, child, _judged(system), bank)
    headline = suite_metrics(result.systems[CANDIDATE])
    log_metrics(store, run_id, headline)
    cost = log_costs(store, run_id, joined(result.costs.values()), "evaluation")
    for path in (result.metrics_path, result.report_path):
        store.client.log_artifact(run_id, str(path))
    return headline | cost


def suite_metrics(system: SystemResult) -> dict[str, float]:
    """The system's numbers under keys that are the same for every system, so that MLflow can compare them."""
    bounds = {
        f"{key}_{side}": pair[at] for key, pair in system.intervals.items() for at, side in enumerate(("low", "high"))
    }
    return {f"eval/{SUITE}/{key}": value for key, value in (system.metrics | bounds).items()}


def _judged(system: SystemResult) -> Iterator[JudgedEpisode]:
    judgments = {item.episode_id: item for item in read_jsonl(system.judgements_path, Judgment)}
    for episode in read_episodes(system.episodes_path):
        judgment = judgments[episode.episode_id]
        yield JudgedEpisode(
            episode,
            {"gold": judgment.gold.value, "quality": judgment.quality_bucket.value, "reason": judgment.reason.value},
            {"correct": judgment.correct, "strong": judgment.strong},
            judgment.explanation,
            "rules",
        )


TRACKED: dict[str, Callable[[StageSpec, Params, Paths, Store, str], dict[str, float]]] = {
    "sft": _sft,
    "evaluate": _evaluate,
}
assert set(TRACKED) == {spec.name for spec in STAGES if not spec.in_dvc}
