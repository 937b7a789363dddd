"""Reading the public half of the benchmark."""

from pathlib import Path

from components.config.paths import Paths
from components.errors import EviflowError
from components.records.case import Case, Split
from components.storage.atomic import iterate_jsonl, read_jsonl


def load_cases(paths: Paths, split: Split) -> list[Case]:
    """The cases of one split, sorted by id.

    Raises:
        EviflowError: the benchmark has not been built, or the split is empty.

    """
    path = paths.benchmark / f"{split.value}.jsonl"
    if not path.exists():
        raise EviflowError(f"{path} is not there; run `eviflow stage panel` or `dvc checkout`")
    cases = read_jsonl(path, Case)
    if not cases:
        raise EviflowError(f"{path} holds no case; build the candidates again with more events")
    return sorted(cases, key=lambda case: case.case_id)


def find_case(folder: Path, case_id: str) -> tuple[Split, Case] | None:
    """The case of that id in a benchmark's public folder, if there is one."""
    for split in Split:
        path = folder / f"{split.value}.jsonl"
        for case in iterate_jsonl(path, Case) if path.exists() else ():
            if case.case_id == case_id:
                return split, case
    return None
