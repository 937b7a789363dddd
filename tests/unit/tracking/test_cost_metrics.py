"""What episodes cost, in MLflow."""

import json
from pathlib import Path

import pytest
from tracking_samples import episode

from components.config.paths import Paths
from components.config.tools import PriceParams
from components.records.image_bank import ImageBank
from components.records.shards import write_episodes
from components.records.usage import Meter, Spent, Usage
from components.rollout.spending import SPENT
from components.storage.atomic import write_json
from components.tracking.costs import log_costs, teacher_costs
from components.tracking.runs import open_run
from components.tracking.store import Store


def test_the_teachers_costs_are_read_from_its_episodes_and_logged_with_the_table(
    store: Store, checkout: Paths, tmp_path: Path
) -> None:
    plain = episode(1, ImageBank(tmp_path / "bank"))
    used = (Usage(meter=Meter.SERPER_CREDITS, calls=1, units=3),)
    first = plain.steps[0]
    assert first.observation is not None
    paid = first.model_copy(update={"observation": first.observation.model_copy(update={"usage": used})})
    write_episodes(
        checkout.episodes / "episodes.parquet", [plain.model_copy(update={"steps": (paid, *plain.steps[1:])})]
    )
    assert teacher_costs(checkout, PriceParams()).sent == 0, "episodes from before it was kept"
    write_json(checkout.episodes / SPENT, Spent(requests=2))

    table = teacher_costs(checkout, PriceParams(serper_credit_usd=0.5))
    run = open_run(store, "episodes", "identity")
    metrics = log_costs(store, run, table, "episodes")
    assert metrics["cost/episodes/list_usd"] == pytest.approx(1.5)
    assert metrics["cost/episodes/sent"] == 2.0
    assert store.client.get_run(run).data.metrics == metrics
    (tmp_path / "got").mkdir()
    file = store.client.download_artifacts(run, "costs.json", str(tmp_path / "got"))
    assert json.loads(Path(file).read_text())["tools"]["tool_0"]["list_usd"] == pytest.approx(1.5)
