import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from components.cli import app
from components.commands.session import Session
from components.errors import UsageError
from components.evaluation.scoring import score_factuality

SUPPORTED, REFUTED = 377, 1150
VERDICT_OF = {SUPPORTED: "supported", REFUTED: "refuted"}
PUBLISHED = [
    # right of supported, right of refuted, invalid of either; balanced accuracy, macro precision, macro F1; strong
    (318, 906, 0, 0, 81.57, 75.23, 76.70, 655),
    (300, 922, 1, 0, 79.87, 74.60, 76.07, 531),
    (316, 833, 1, 0, 78.13, 71.60, 72.06, 771),
    (191, 1067, 1, 0, 71.72, 77.47, 73.76, 661),
    (112, 1094, 1, 0, 62.42, 73.61, 64.17, 499),
    (300, 830, 2, 1, 75.87, 70.09, 70.51, 56),
    (306, 682, 1, 0, 70.24, 65.11, 62.44, 136),
    (360, 281, 1, 2, 59.96, 61.98, 41.86, 46),
]
"""Counts and rates of EviScene's table, for 377 supported and 1,150 refuted cases."""


def table(path: Path, rows: Iterable[dict[str, object]], delimiter: str = ",") -> Path:
    listed = list(rows)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(listed), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in listed), "utf-8")
    else:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(listed[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(listed)
        path.write_text(text.getvalue(), "utf-8")
    return path


def gold_rows() -> list[dict[str, object]]:
    verdicts = ["supported"] * SUPPORTED + ["refuted"] * REFUTED
    return [{"case_id": f"c{at}", "factual_status": verdict} for at, verdict in enumerate(verdicts)]


def predicted_rows(right_s: int, right_r: int, invalid_s: int, invalid_r: int, strong: int) -> list[dict[str, object]]:
    wrong_s, wrong_r = SUPPORTED - right_s - invalid_s, REFUTED - right_r - invalid_r
    counts = [
        *((SUPPORTED, "supported", right_s), (SUPPORTED, "refuted", wrong_s), (SUPPORTED, "error", invalid_s)),
        *((REFUTED, "refuted", right_r), (REFUTED, "supported", wrong_r), (REFUTED, "", invalid_r)),
    ]
    said = [(verdict, verdict == VERDICT_OF[size]) for size, verdict, count in counts for _ in range(count)]
    right = [at for at, (_, is_right) in enumerate(said) if is_right]
    buckets = dict.fromkeys(right[:strong], "strong")
    return [
        {"id": f"c{at}", "verdict": verdict, "bucket": buckets.get(at, "weak")} for at, (verdict, _) in enumerate(said)
    ]


@pytest.mark.parametrize("row", PUBLISHED)
def test_the_published_counts_give_the_published_rates(tmp_path: Path, row: tuple[float, ...]) -> None:
    right_s, right_r, invalid_s, invalid_r, *rates, strong = row
    predictions = predicted_rows(int(right_s), int(right_r), int(invalid_s), int(invalid_r), int(strong))
    scored = score_factuality(table(tmp_path / "p.jsonl", predictions), table(tmp_path / "g.jsonl", gold_rows()))
    found = [scored.balanced_accuracy, scored.macro_precision, scored.macro_f1]
    assert [round(rate, 2) for rate in found] == rates
    assert scored.recall_supported == pytest.approx(100 * right_s / SUPPORTED)
    assert scored.sesr == pytest.approx(100 * strong / (SUPPORTED + REFUTED))
    assert (scored.n, scored.invalid, scored.missing) == (1527, invalid_s + invalid_r, 0)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "tsv"])
def test_every_kind_of_table_gives_the_same(tmp_path: Path, suffix: str) -> None:
    gold = [{"case_id": f"c{at}", "label": "real" if at % 2 else "fake"} for at in range(8)]
    said = [{"id": f"c{at}", "prediction": "supported" if at in (1, 3, 4) else "refuted"} for at in range(7)]
    delimiter = "\t" if suffix == "tsv" else ";"
    scored = score_factuality(
        table(tmp_path / f"p.{suffix}", said, delimiter), table(tmp_path / f"g.{suffix}", gold, delimiter)
    )
    assert scored.recall_supported == 50.0
    assert scored.recall_refuted == 75.0
    assert scored.balanced_accuracy == 62.5
    assert (scored.n, scored.invalid, scored.missing, scored.sesr) == (8, 0, 1, None)


def test_sesr_is_withheld_until_every_prediction_is_judged(tmp_path: Path) -> None:
    gold = table(tmp_path / "g.jsonl", [{"id": "a", "verdict": "supported"}, {"id": "b", "verdict": "refuted"}])
    rows: list[dict[str, object]] = [
        {"id": "a", "verdict": "supported", "strong": True},
        {"id": "b", "verdict": "refuted"},
    ]
    assert score_factuality(table(tmp_path / "p.jsonl", rows), gold).sesr is None
    rows[1]["strong"] = False
    assert score_factuality(table(tmp_path / "p.jsonl", rows), gold).sesr == 50.0
    rows[0]["verdict"] = "refuted"
    assert score_factuality(table(tmp_path / "p.jsonl", rows), gold).sesr == 0.0


@pytest.mark.parametrize(
    ("predictions", "gold", "complaint"),
    [
        ('{"id": "a", "verdict": "real"}\n{"id": "a", "verdict": "real"}\n', None, "line 2: 'a' stands twice"),
        ('{"id": "z", "verdict": "real"}\n', None, "predicts 'z'"),
        ('{"verdict": "real"}\n', None, "line 1, has no case_id or id"),
        ("{broken\n", None, "line 1: the line is no JSON"),
        (None, '{"id": "a", "verdict": "perhaps"}\n', "line 1: 'a' is neither supported nor refuted"),
        (None, '{"id": "a", "verdict": "real"}\n', "at least one supported and one refuted"),
    ],
)
def test_a_join_that_is_wrong_is_named_and_not_scored(
    tmp_path: Path, predictions: str | None, gold: str | None, complaint: str
) -> None:
    (tmp_path / "p.jsonl").write_text(predictions or '{"id": "a", "verdict": "real"}\n', "utf-8")
    both = '{"id": "a", "verdict": "real"}\n{"id": "b", "verdict": "fake"}\n'
    (tmp_path / "g.jsonl").write_text(gold or both, "utf-8")
    with pytest.raises(UsageError, match=complaint):
        score_factuality(tmp_path / "p.jsonl", tmp_path / "g.jsonl")


def test_the_command_prints_json(tmp_path: Path) -> None:
    gold = table(tmp_path / "g.csv", [{"id": "a", "verdict": "supported"}, {"id": "b", "verdict": "refuted"}])
    done = CliRunner().invoke(app, ["score", "factuality", str(gold), str(gold)], obj=Session())
    printed = json.loads(done.output)
    assert printed["balanced_accuracy"] == printed["macro_f1"] == 100.0
    assert "sesr" not in printed
