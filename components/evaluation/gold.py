"""Reading the private half of the benchmark: for judges, reviewers and reports only."""

from components.config.paths import Paths
from components.errors import EviflowError
from components.records.case import Gold, Split
from components.storage.atomic import read_jsonl


def load_gold(paths: Paths, split: Split) -> dict[str, Gold]:
    """The gold records of one split by case id.

    Raises:
        EviflowError: they are not there.

    """
    path = paths.gold / f"{split.value}.jsonl"
    if not path.exists():
        raise EviflowError(f"{path} is not there; run `eviflow stage panel` or `dvc checkout`")
    return {gold.case_id: gold for gold in read_jsonl(path, Gold)}
