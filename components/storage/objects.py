"""Which objects a version of the data needs, and which of them a place has, whole."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from components.storage.depots import Depot, Found, bytes_md5, digest_md5, stem
from components.storage.dvc import Out


class Needed(NamedTuple):
    """One object of a version."""

    digest: str
    path: str
    """Where its bytes lie in the checkout; of several files with the same bytes, all have an entry."""
    size: int | None = None
    """Bytes, where they are recorded."""

    @property
    def is_listing(self) -> bool:
        """Whether it is the list of a folder's files."""
        return self.digest.endswith(".dir")


class Fault(NamedTuple):
    """An object that a place does not have as it should be."""

    needed: Needed
    place: str
    what: str
    """`missing`, or `damaged`: there, with other bytes."""

    def __str__(self) -> str:
        """One line about it."""
        return f"{self.what} {self.place}: {self.needed.path} ({self.needed.digest})"


class Survey(NamedTuple):
    """What a place has of the objects that it was asked for."""

    faults: list[Fault]
    whole: dict[str, int]
    """Bytes of those that are as they should be."""


def needed_objects(outs: Iterable[Out], places: Sequence[Depot]) -> list[Needed]:
    """Every object of the outputs; folders are opened. What a list holds that no place has whole is not known."""
    return [needed for out in outs for needed in _of_one(out, places)]


def survey(needed: Iterable[Needed], place: Depot, sizes: Mapping[str, int] | None = None) -> Survey:
    """Look for every object in one place, and at its bytes as far as the place allows.

    Args:
        needed: what it should have.
        place: where to look.
        sizes: bytes by digest, known from elsewhere; used where the place does not tell an MD5.

    """
    once = {item.digest: item for item in reversed(list(needed))}
    found = place.find(once)
    faults, whole = [], {}
    for digest, item in sorted(once.items(), key=lambda pair: pair[1].path):
        size = item.size if item.size is not None else (sizes or {}).get(digest)
        what = fault_of(digest, found.get(digest), size)
        if what is None:
            whole[digest] = found[digest].size
        else:
            faults.append(Fault(item, place.label, what))
    return Survey(faults, whole)


def wrong_totals(outs: Iterable[Out], needed: Sequence[Needed], place: Depot, whole: Mapping[str, int]) -> list[Fault]:
    """Folders whose files are all there, but do not make up the recorded bytes: some file has another size.

    A list of files tells no sizes, so this is all that can be said of files that no MD5 is told of.

    Args:
        outs: what is recorded.
        needed: the objects of all of them.
        place: where they were looked for.
        whole: bytes by digest of those that were found there without a fault.

    """
    faults = []
    for out in (item for item in outs if item.is_folder):
        sizes = [whole.get(item.digest) for item in needed if item.path.startswith(f"{out.path}/")]
        known = [size for size in sizes if size is not None]
        if out.digest in whole and len(known) == len(sizes) and sum(known) != out.size:
            faults.append(Fault(Needed(out.digest, out.path), place.label, "damaged"))
    return faults


def differing(needed: Iterable[Needed], root: Path) -> list[Needed]:
    """Files of the checkout that are missing or have other bytes than they should."""
    files = (item for item in needed if not item.is_listing)
    return [item for item in files if not _holds(root / item.path, item.digest)]


def _holds(path: Path, digest: str) -> bool:
    return path.is_file() and digest_md5(path) == digest


def _of_one(out: Out, places: Sequence[Depot]) -> Iterator[Needed]:
    if not out.is_folder:
        yield Needed(out.digest, out.path, out.size)
        return
    yield Needed(out.digest, out.path)
    for entry in _listing(out.digest, places):
        yield Needed(entry["md5"], f"{out.path}/{entry['relpath']}")


def _listing(digest: str, places: Sequence[Depot]) -> list[dict[str, str]]:
    """A folder's files, from the first place that has the list whole."""
    for place in places:
        content = place.read(digest)
        if content is not None and bytes_md5(content) == stem(digest):
            listed: list[dict[str, str]] = json.loads(content)
            return listed
    return []


def fault_of(digest: str, found: Found | None, size: int | None = None) -> str | None:
    """What is wrong with what was found under a digest: `missing`, `damaged`, or None where nothing is."""
    if found is None:
        return "missing"
    if found.md5 is not None:
        return None if found.md5 == stem(digest) else "damaged"
    return "damaged" if size is not None and size != found.size else None
