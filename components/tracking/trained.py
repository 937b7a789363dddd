"""Which runs were trained on which data, and which registered models came of them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from mlflow.entities import Run

from components.tracking.datasets import TRAINING
from components.tracking.runs import search_runs
from components.tracking.store import Store


class TrainedRun(NamedTuple):
    """A training run with the bytes that it has read."""

    run_id: str
    name: str
    status: str
    """RUNNING, FINISHED, FAILED or KILLED."""
    url: str
    data: frozenset[tuple[str, str]]
    """Path and digest of each dataset."""
    models: tuple[str, ...]
    """Registered versions, `name/version`, with their aliases."""

    def __str__(self) -> str:
        """One line about it."""
        return ", ".join([f"{self.name} {self.run_id[:8]} {self.status.lower()}", *self.models])


def training_runs(store: Store) -> list[TrainedRun]:
    """Every run that has logged what it was trained on, newest first."""
    return [_trained(store, run) for run in search_runs(store, f"dataset.context = '{TRAINING}'")]


def trained_on(runs: Iterable[TrainedRun], digests: Mapping[str, str]) -> list[TrainedRun]:
    """Those runs whose every dataset is one of a version.

    Args:
        runs: training runs.
        digests: what the version has, DVC's digest by path.

    """
    return [run for run in runs if run.data and run.data <= set(digests.items())]


def _trained(store: Store, run: Run) -> TrainedRun:
    inputs = run.inputs.dataset_inputs if run.inputs else []
    used = [item for item in inputs if _context(item.tags) == TRAINING]
    return TrainedRun(
        run_id=run.info.run_id,
        name=run.info.run_name,
        status=run.info.status,
        url=store.run_url(run.info.run_id),
        data=frozenset((item.dataset.name, item.dataset.digest) for item in used),
        models=tuple(_models(store, run.info.run_id)),
    )


def _context(tags: Iterable[object]) -> str | None:
    return next((tag.value for tag in tags if tag.key == "mlflow.data.context"), None)  # type: ignore[attr-defined]


def _models(store: Store, run_id: str) -> Iterator[str]:
    for version in store.client.search_model_versions(f"run_id = '{run_id}'"):
        aliases = store.client.get_model_version(version.name, version.version).aliases
        yield f"{version.name}/{version.version}" + (f" ({', '.join(sorted(aliases))})" if aliases else "")
