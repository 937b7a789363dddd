import io
from pathlib import Path

import pytest
from evaluation_doubles import make_gold
from PIL import Image, ImageDraw

from components.evaluation.baselines import baseline_metrics, majority, nearest
from components.records.case import Case, Verdict
from components.records.image_bank import ImageBank, asset_path


def drawn(bank: ImageBank, case_id: str, box: tuple[int, int, int, int], colour: str) -> Case:
    image = Image.new("RGB", (64, 64), "white")
    ImageDraw.Draw(image).rectangle(box, fill=colour)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    digest = bank.put(buffer.getvalue())
    return Case(case_id=case_id, image_path=asset_path(digest), image_sha256=digest)


def test_majority() -> None:
    gold = {"a": make_gold("date", "a"), "b": make_gold("count", "b"), "c": make_gold(None, "c")}
    assert majority(gold) is Verdict.REFUTED


def test_the_nearest_picture_lends_its_verdict(tmp_path: Path) -> None:
    bank = ImageBank(tmp_path)
    train = [drawn(bank, "t1", (0, 0, 20, 60), "black"), drawn(bank, "t2", (0, 40, 60, 60), "black")]
    test = [drawn(bank, "c1", (0, 40, 62, 60), "navy"), drawn(bank, "c2", (0, 0, 22, 60), "navy")]
    train_gold = {"t1": make_gold("date", "t1"), "t2": make_gold(None, "t2")}
    gold = {"c1": make_gold(None, "c1"), "c2": make_gold("count", "c2")}
    assert nearest(train, train_gold, test, bank) == {"c1": Verdict.SUPPORTED, "c2": Verdict.REFUTED}
    metrics = baseline_metrics(train, train_gold, test, gold, bank)
    assert metrics["nearest_reference"]["balanced_accuracy"] == 1.0
    assert metrics["majority"]["balanced_accuracy"] == 0.5
    assert metrics["nearest_reference"]["sesr"] == 0.0


@pytest.mark.parametrize("lost", ["train", "test"])
def test_a_missing_picture_is_an_invalid_answer_not_a_crash(tmp_path: Path, lost: str) -> None:
    bank = ImageBank(tmp_path)
    train, test = [drawn(bank, "t1", (0, 0, 20, 60), "black")], [drawn(bank, "c1", (0, 0, 22, 60), "navy")]
    gone = Case(case_id=train[0].case_id if lost == "train" else "c1", image_path="x.png", image_sha256="f" * 64)
    found = nearest(
        [gone] if lost == "train" else train, {"t1": make_gold("date", "t1")}, [gone] if lost == "test" else test, bank
    )
    assert found == {}
