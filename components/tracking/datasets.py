"""Datasets as MLflow knows them: a name and DVC's digest, so that a run tells which bytes it has read or made."""

from collections.abc import Mapping, Sequence

from mlflow.data.http_dataset_source import HTTPDatasetSource
from mlflow.data.meta_dataset import MetaDataset
from mlflow.entities import DatasetInput, InputTag

from components.storage.dvc import Out
from components.tracking.store import Store

TRAINING, EVALUATION = "training", "evaluation"
"""What datasets are to the run that reads them: by the first, a training is found again from its data."""


def log_datasets(store: Store, run_id: str, outs: Sequence[Out], context: str, tags: Mapping[str, str]) -> None:
    """Link DVC outputs to a run.

    Args:
        store: where to.
        run_id: the run that has read or made them.
        outs: outputs with their digests; a digest is at most 36 characters, which is MLflow's limit.
        context: what they were to the run: `made`, `training`, `evaluation`.
        tags: further facts for every one of them, such as the git commit.

    """
    extra = [InputTag(key, value) for key, value in tags.items()]
    inputs = [
        DatasetInput(_dataset(out)._to_mlflow_entity(), [InputTag("mlflow.data.context", context), *extra])
        for out in outs
    ]
    if inputs:
        store.client.log_inputs(run_id, inputs)


def _dataset(out: Out) -> MetaDataset:
    """The source is an address that DVC understands, in a form that MLflow keeps: it fetches nothing."""
    source = HTTPDatasetSource(f"dvc://{out.path}?md5={out.digest}")
    return MetaDataset(source, name=out.path, digest=out.digest)  # type: ignore[abstract]
