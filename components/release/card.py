"""The data card: what a release holds, how it came about, and what it is for, as one HTML page for people.

It shows what the release publishes, counts, and for a few training cases the evidence; no word of reviewers, of
rejected candidates or of the world's facts. It lies beside the reports, where no agent looks.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from components.config.paths import Paths
from components.errors import EviflowError
from components.evaluation.templating import template_environment, thumbnail
from components.records.case import Case, ErrorType, Family, Gold, Split, Verdict
from components.records.image_bank import ImageBank
from components.release.checks import CheckTable, benchmark_checks
from components.release.stage import read_report
from components.review.fields import Span, spans_of
from components.storage.atomic import read_jsonl, write_text
from components.storage.identity import digest_file, digest_tree, git_state

PICTURE_SIDE = 320
"""Longest side of an example's picture, pixels."""


class Count(NamedTuple):
    """One line of a table of counts."""

    name: str
    counts: tuple[int, ...]
    """One for each split."""

    @property
    def total(self) -> int:
        """Of all splits."""
        return sum(self.counts)


class CountTable(NamedTuple):
    """How many cases have each value of a field."""

    title: str
    rows: tuple[Count, ...]

    @property
    def longest(self) -> int:
        """The greatest sum, for the length of bars."""
        return max((row.total for row in self.rows), default=1)


class Example(NamedTuple):
    """One case as the card shows it."""

    case_id: str
    picture: str
    """Data URI, empty when the picture is missing."""
    claim: str
    label: str
    kind: str
    """Error type, empty for a supported case."""
    family: str
    style: str
    route: str
    evidence: tuple[Span, ...]


class Entry(NamedTuple):
    """A released case with its record."""

    split: Split
    case: Case
    gold: Gold


def write_card(paths: Paths) -> Path:
    """Write the card of the release in the checkout.

    Returns:
        Where it is.

    Raises:
        EviflowError: there is no release.

    """
    report, entries = read_report(paths), _entries(paths)
    environment = template_environment("components.release")
    environment.filters["percent"] = lambda share: f"{100 * share:.1f}"
    page = environment.get_template("card.html.jinja").render(
        report=report,
        counts={split.value: sum(item.split is split for item in entries) for split in Split},
        supported=sum(item.gold.factual_status is Verdict.SUPPORTED for item in entries),
        tables=count_tables(entries),
        checks=_checks(paths),
        examples=_examples(entries, ImageBank(paths.benchmark)),
        versions=_versions(paths),
        routes=sorted({item.gold.route for item in entries}),
        persons=("first reviewer", "second reviewer", "third"),
    )
    return write_text(paths.data_card, page)


def count_tables(entries: Sequence[Entry]) -> list[CountTable]:
    """Released cases by label, family, error type, style and route."""
    return [
        _table("Label", entries, lambda gold: gold.factual_status.value),
        _table("Error family, of refuted cases", entries, lambda gold: _family(gold.error_type), Family),
        _table("Error type, of refuted cases", entries, lambda gold: gold.error_type or "", ErrorType),
        _table("Generator style", entries, lambda gold: gold.style),
        _table("Route", entries, lambda gold: gold.route),
    ]


def _table(title: str, entries: Sequence[Entry], value: Callable[[Gold], str], order: Iterable[str] = ()) -> CountTable:
    """Counts of a value that is not empty, in the given order, then by name."""
    counts = Counter((str(value(item.gold)), item.split) for item in entries)
    named = {name for name, _ in counts if name}
    names = [*(name for name in map(str, order) if name in named), *sorted(named - set(map(str, order)))]
    return CountTable(title, tuple(Count(name, tuple(counts[name, split] for split in Split)) for name in names))


def _family(kind: ErrorType | None) -> str:
    return kind.family.value if kind else ""


def _entries(paths: Paths) -> list[Entry]:
    entries: list[Entry] = []
    for split in Split:
        public, private = (folder / f"{split.value}.jsonl" for folder in (paths.benchmark, paths.gold))
        for path in (public, private):
            if not path.exists():
                raise EviflowError(f"{path} is not there; run `eviflow stage panel` or `dvc checkout`")
        golds = {gold.case_id: gold for gold in read_jsonl(private, Gold)}
        entries += [Entry(split, case, golds[case.case_id]) for case in read_jsonl(public, Case)]
    return entries


def _examples(entries: Sequence[Entry], bank: ImageBank) -> list[Example]:
    """The first case of every kind: of training where there is one, since answers of test cases are for judges."""
    first: dict[ErrorType | Verdict, Entry] = {}
    for item in sorted(entries, key=lambda item: list(Split).index(item.split)):
        first.setdefault(item.gold.error_type or item.gold.factual_status, item)
    return [_example(first[kind], bank) for kind in (*Verdict, *ErrorType) if kind in first]


def _example(item: Entry, bank: ImageBank) -> Example:
    gold = item.gold
    decisive = "supports" if gold.factual_status is Verdict.SUPPORTED else "refutes"
    evidence = [found for found in gold.acceptable_evidence if found.stance == decisive]
    return Example(
        case_id=gold.case_id,
        picture=thumbnail(item.case.image_sha256, bank, PICTURE_SIDE),
        claim=gold.target_claim,
        label=gold.factual_status.value,
        kind=gold.error_type.value if gold.error_type else "",
        family=_family(gold.error_type),
        style=gold.style,
        route=gold.route,
        evidence=tuple(spans_of(evidence)),
    )


def _checks(paths: Paths) -> list[CheckTable]:
    path = paths.metrics / "benchmark.json"
    return benchmark_checks(path.read_text("utf-8")) if path.exists() else []


def _versions(paths: Paths) -> list[tuple[str, str]]:
    git = git_state(paths.root)
    commit = git.sha + (" and changes that no commit holds" if git.dirty else "")
    named = {"cases and pictures": paths.benchmark, "gold records": paths.gold, "candidates": paths.candidates}
    return [
        ("suite (test.jsonl)", digest_file(paths.benchmark / "test.jsonl")),
        *((name, digest_tree(folder) or "not in this checkout") for name, folder in named.items()),
        ("git commit of the checkout", commit if git.sha != "none" else "not known"),
    ]
