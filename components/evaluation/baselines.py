"""What can be had without investigating: the verdict of the majority, and that of the most similar training picture."""

from collections import Counter
from collections.abc import Mapping, Sequence

import imagehash
import numpy as np
from numpy.typing import NDArray

from components.evaluation.metrics import outcome, score
from components.records.case import Case, Gold, Verdict
from components.records.image_bank import ImageBank


def baseline_metrics(
    train: Sequence[Case],
    train_gold: Mapping[str, Gold],
    test: Sequence[Case],
    test_gold: Mapping[str, Gold],
    bank: ImageBank,
) -> dict[str, dict[str, float]]:
    """Metrics of every baseline. None of them states grounds, so their SESR is 0."""
    guesses = {
        "majority": dict.fromkeys(test_gold, majority(train_gold)),
        "nearest_reference": nearest(train, train_gold, test, bank),
    }
    return {
        name: score(
            [
                outcome(case_id, gold.factual_status, predicted.get(case_id), strong=False)
                for case_id, gold in test_gold.items()
            ]
        )
        for name, predicted in guesses.items()
    }


def majority(gold: Mapping[str, Gold]) -> Verdict:
    """The more frequent verdict."""
    return Counter(item.factual_status for item in gold.values()).most_common(1)[0][0]


def nearest(
    train: Sequence[Case], gold: Mapping[str, Gold], test: Sequence[Case], bank: ImageBank
) -> dict[str, Verdict]:
    """For each test case the verdict of the training case whose perceptual hash is nearest; none without a picture."""
    known = {name: found for name, found in _hashes(train, bank).items() if name in gold}
    if not known:
        return {}
    names, table = list(known), np.stack(list(known.values()))
    return {
        case_id: gold[names[int((table != found).sum(axis=1).argmin())]].factual_status
        for case_id, found in _hashes(test, bank).items()
    }


def _hashes(cases: Sequence[Case], bank: ImageBank) -> dict[str, NDArray[np.bool_]]:
    """64 bits for each case whose picture is there."""
    return {
        case.case_id: imagehash.phash(bank.open(case.image_sha256)).hash.ravel()
        for case in cases
        if case.image_sha256 in bank
    }
