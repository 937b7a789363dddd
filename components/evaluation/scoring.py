"""Scoring of anybody's predictions: two tables with ids and verdicts, EviLens-F's metrics, nothing else.

Every case of the gold table counts, whatever the predictions say of it. An id that stands twice or is unknown ends the
scoring by name: a wrong join must not become a number.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from components.curation.transfer.refusals import RowRefused, shown
from components.curation.transfer.rows import LABELS
from components.curation.transfer.tables import open_table
from components.errors import UsageError
from components.evaluation.metrics import Outcome, outcome, score
from components.records.case import Verdict

IDS = ("case_id", "id")
VERDICTS = ("verdict", "factual_status", "label", "prediction", "predicted", "factuality_label")
GROUNDS = ("bucket", "grounds", "strong")
"""A judge's word: `strong`, `yes`, true or 1 for grounds that suffice; nothing where nobody has judged."""
_STRONG = ("strong", "true", "1", "yes")


class FactualityScore(BaseModel):
    """Rates in percent, unrounded, and counts."""

    balanced_accuracy: float
    macro_precision: float
    macro_f1: float
    recall_supported: float
    recall_refuted: float
    sesr: float | None = None
    """None where not every prediction is judged."""
    n: int
    """Cases of the gold table."""
    invalid: int
    """Cases whose prediction is no verdict."""
    missing: int
    """Cases without a prediction."""


class _Answer(NamedTuple):
    verdict: Verdict | None
    strong: bool | None
    """None where nobody judged."""


def score_factuality(predictions: Path, gold: Path) -> FactualityScore:
    """Score a table of predictions against a table of gold: CSV with any delimiter, JSON lines or Parquet.

    Raises:
        UsageError: a table cannot be read, an id stands twice or is unknown, or a gold row has no verdict.

    """
    truth, answers = _gold(gold), _answers(predictions)
    unknown = next((name for name in answers if name not in truth), None)
    if unknown is not None:
        raise UsageError(f"{predictions} predicts {shown(unknown)}, which {gold} does not hold; score matching tables")
    try:
        rates = score([_outcome(name, verdict, answers.get(name)) for name, verdict in truth.items()])
    except ValueError as error:
        raise UsageError(f"{gold} cannot be scored against: {error}") from error
    judged = bool(answers) and all(answer.strong is not None for answer in answers.values())
    counts = {name: int(rates[name]) for name in ("n", "invalid", "missing")}
    names = FactualityScore.model_fields.keys() - counts.keys() - (set() if judged else {"sesr"})
    return FactualityScore.model_validate(counts | {name: 100 * rates[name] for name in names})


def _outcome(name: str, truth: Verdict, answer: _Answer | None) -> Outcome:
    if answer is None:
        return outcome(name, truth, None, strong=False, missing=True)
    return outcome(name, truth, answer.verdict, strong=bool(answer.strong))


def _gold(path: Path) -> dict[str, Verdict]:
    truth = {}
    for line, name, row in _rows(path):
        verdict = _verdict(row)
        if verdict is None:
            raise UsageError(f"{path}, line {line}: {shown(name)} is neither supported nor refuted; mend the row")
        truth[name] = verdict
    return truth


def _answers(path: Path) -> dict[str, _Answer]:
    return {name: _Answer(_verdict(row), _strong(row)) for _, name, row in _rows(path)}


def _rows(path: Path) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Line, id and values of every row; no id comes twice."""
    if not path.is_file():
        raise UsageError(f"{path} is no file; name a CSV, JSONL or Parquet table")
    seen: set[str] = set()
    with path.open("rb") as file:
        for line, row in open_table(file, path.name, path.stat().st_size).rows():
            if isinstance(row, RowRefused):
                raise UsageError(f"{path}, line {line}: {row.on(line).detail}; mend the row")
            name = _text(row, IDS)
            if not name:
                raise UsageError(f"{path}, line {line}, has no {' or '.join(IDS)}; give every row one")
            if name in seen:
                raise UsageError(f"{path}, line {line}: {shown(name)} stands twice; keep one row for each case")
            seen.add(name)
            yield line, name, row


def _verdict(row: dict[str, Any]) -> Verdict | None:
    return LABELS.get(_text(row, VERDICTS).casefold())


def _strong(row: dict[str, Any]) -> bool | None:
    said = _text(row, GROUNDS).casefold()
    return said in _STRONG if said else None


def _text(row: dict[str, Any], names: tuple[str, ...]) -> str:
    """The first of `names` that the row has a value for, as text; empty when it has none."""
    return next((str(row[name]).strip() for name in names if row.get(name) is not None), "")
