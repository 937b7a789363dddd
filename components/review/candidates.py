"""Reading the candidates: cases with their gold records, before anybody has decided on them."""

from components.config.paths import Paths
from components.errors import EviflowError
from components.records.case import Case, Gold, Split
from components.storage.atomic import read_jsonl


def load_candidates(paths: Paths, split: Split) -> list[tuple[Case, Gold]]:
    """The candidates of one split with their gold records, sorted by id.

    Raises:
        EviflowError: they are not there, or a case has no record.

    """
    public, private = (folder / f"{split.value}.jsonl" for folder in (paths.candidates, paths.candidates_gold))
    for path in (public, private):
        if not path.exists():
            raise EviflowError(f"{path} is not there; run `eviflow stage benchmark` or `dvc checkout`")
    golds = {gold.case_id: gold for gold in read_jsonl(private, Gold)}
    cases = sorted(read_jsonl(public, Case), key=lambda case: case.case_id)
    if lost := [case.case_id for case in cases if case.case_id not in golds]:
        raise EviflowError(f"{private} has no record of {lost[0]}; run `eviflow stage benchmark` again")
    return [(case, golds[case.case_id]) for case in cases]
