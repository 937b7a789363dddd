"""Whether every object of a version is whole, here and in the remote."""

from pathlib import Path
from typing import NamedTuple

from components.errors import UsageError
from components.storage.objects import Fault, needed_objects, survey, wrong_totals
from components.storage.remote import open_places
from components.storage.versions import LOCK, read_version, recorded_outs, working_files


class Checked(NamedTuple):
    """What was found."""

    objects: int
    """How many there are, each counted once however many files have its bytes."""
    places: list[str]
    """Where they were looked for."""
    faults: list[Fault]


def verify_objects(root: Path, revision: str | None = None) -> Checked:
    """Look at every object: its bytes in the cache; in the remote its MD5 where that is told, else its size.

    Args:
        root: the checkout.
        revision: a commit; None for what the checkout's own `dvc.lock` records.

    Raises:
        UsageError: there is nothing recorded, or the remote cannot be looked into.

    """
    files = working_files(root) if revision is None else read_version(root, revision).files
    if LOCK not in files:
        raise UsageError(f"{root} has no {LOCK}, so there is nothing to verify; make the data with `eviflow run`")
    places = open_places(root)
    outs = recorded_outs(files, revision or "the checkout")
    needed = needed_objects(outs, places.all)
    here = survey(needed, places.cache)
    faults = [*here.faults]
    if places.remote is not None:
        there = survey(needed, places.remote, here.whole)
        faults += there.faults + wrong_totals(outs, needed, places.remote, there.whole)
    return Checked(len({item.digest for item in needed}), [place.label for place in places.all], faults)
