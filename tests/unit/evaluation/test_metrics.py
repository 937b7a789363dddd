import pytest

from components.evaluation.metrics import Outcome, Result, outcome, score
from components.records.case import Verdict

SUPPORTED, REFUTED = Verdict.SUPPORTED, Verdict.REFUTED


def outcomes(correct_s: int, correct_r: int, inv_s: int, inv_r: int, strong: int) -> list[Outcome]:
    """The cases behind one published row: 377 supported, 1,150 refuted."""
    supported = [Result.RIGHT] * correct_s + [Result.INVALID] * inv_s
    refuted = [Result.RIGHT] * correct_r + [Result.INVALID] * inv_r
    supported += [Result.WRONG] * (377 - len(supported))
    refuted += [Result.WRONG] * (1150 - len(refuted))
    rows = [(SUPPORTED, item) for item in supported] + [(REFUTED, item) for item in refuted]
    result = []
    for number, (gold, item) in enumerate(rows):
        if item is Result.RIGHT and strong:
            item, strong = Result.STRONG, strong - 1
        result.append(Outcome(f"c{number}", gold, item))
    return result


@pytest.mark.parametrize(
    ("row", "bacc", "precision", "f1", "sesr"),
    [
        ((318, 906, 0, 0, 655), 81.57, 75.23, 76.70, 42.89),
        ((300, 922, 1, 0, 531), 79.87, 74.60, 76.07, 34.77),
        ((316, 833, 1, 0, 771), 78.13, 71.60, 72.06, 50.49),
        ((191, 1067, 1, 0, 661), 71.72, 77.47, 73.76, 43.29),
        ((112, 1094, 1, 0, 499), 62.42, 73.61, 64.17, 32.68),
        ((300, 830, 2, 1, 56), 75.87, 70.09, 70.51, 3.67),
        ((306, 682, 1, 0, 136), 70.24, 65.11, 62.44, 8.91),
        ((360, 281, 1, 2, 46), 59.96, 61.98, 41.86, 3.01),
        ((193, 1075, 1, 0, 655), 72.34, None, 74.57, 42.89),
        ((302, 897, 0, 0, 798), 79.05, None, 74.67, 52.26),
    ],
)
def test_published_table(
    row: tuple[int, int, int, int, int], bacc: float, precision: float | None, f1: float, sesr: float
) -> None:
    result = score(outcomes(*row))
    assert round(100 * result["balanced_accuracy"], 2) == bacc
    assert precision is None or round(100 * result["macro_precision"], 2) == precision
    assert round(100 * result["macro_f1"], 2) == f1
    assert round(100 * result["sesr"], 2) == sesr
    assert result["n"] == 1527
    assert result["invalid"] == row[2] + row[3]


def test_missing_and_invalid_cases_stay_in_the_denominator() -> None:
    right = [outcome("a", SUPPORTED, SUPPORTED, strong=True), outcome("b", REFUTED, REFUTED, strong=True)]
    full = score(right)
    assert full["balanced_accuracy"] == full["sesr"] == full["macro_f1"] == 1.0
    lost = [outcome("c", REFUTED, None, strong=False, missing=True), outcome("d", SUPPORTED, None, strong=False)]
    partial = score(right + lost)
    assert partial["balanced_accuracy"] == partial["sesr"] == 0.5
    assert (partial["missing"], partial["invalid"], partial["n"]) == (1, 1, 4)
    assert partial["macro_precision"] == 1.0, "an invalid answer is no false positive of the other class"


def test_a_class_never_predicted_has_precision_zero() -> None:
    rows = [outcome("a", SUPPORTED, REFUTED, strong=False), outcome("b", REFUTED, REFUTED, strong=False)]
    assert score(rows)["macro_precision"] == 0.25


def test_strong_grounds_do_not_rescue_a_wrong_verdict() -> None:
    assert outcome("a", SUPPORTED, REFUTED, strong=True).result is Result.WRONG


def test_one_class_alone_has_no_balanced_accuracy() -> None:
    with pytest.raises(ValueError, match="at least one supported and one refuted"):
        score([outcome("a", SUPPORTED, SUPPORTED, strong=True)])
