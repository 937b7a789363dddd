"""Stage `sft-rows` as users call it, and stage `sft`, which takes its rows or refuses them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from row_samples import TINY, counted, episode, make_checkout, many_pictures, searched

from components.config.paths import Paths
from components.config.schema import Params, SftParams
from components.tracking.store import DATABASE

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]


@pytest.fixture
def checkout(tmp_path: Path, migrated_database: Path) -> Paths:
    paths = make_checkout(tmp_path, [many_pictures(), episode("plain", counted(), searched())])
    params = Params(policy=TINY, sft=SftParams(steps=3, batch_size=2, threads=1))
    paths.params.write_text(yaml.safe_dump(params.model_dump(mode="json")))
    shutil.copy(migrated_database, tmp_path / DATABASE)
    return paths


def eviflow(paths: Paths, *arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "components.cli", "--root", str(paths.root), *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1"}
    return subprocess.run(argv, cwd=paths.root, env=environment, capture_output=True, text=True, check=False)


def scaled(paths: Paths) -> None:
    """Give one row, consistently, the weights of another recipe."""
    [file] = paths.sft_rows.glob("rows-*.parquet")
    table = pq.read_table(file)
    rows = table.to_pylist()
    rows[0]["weights"] = [weight / 2 for weight in rows[0]["weights"]]
    for span in rows[0]["spans"]:
        span["weight"] /= 2
    pq.write_table(type(table).from_pylist(rows, schema=table.schema), file)


@pytest.mark.incident("TR-4")
def test_rows_are_made_shown_trained_on_and_refused_after_tampering(checkout: Paths) -> None:
    early = eviflow(checkout, "stage", "sft")
    assert early.returncode == 1
    assert early.stderr.splitlines()[-1].endswith("run `eviflow stage sft-rows`, or `dvc checkout`")

    made = eviflow(checkout, "stage", "sft-rows")
    assert made.returncode == 0, made.stderr
    assert "episodes 2, rows 2" in made.stderr
    shown = eviflow(checkout, "stage", "sft-rows", "--show", "0")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "many--scripted--s0#0" in shown.stdout

    trained = eviflow(checkout, "stage", "sft")
    assert trained.returncode == 0, trained.stderr
    shutil.rmtree(checkout.sft_policy)

    scaled(checkout)
    refused = eviflow(checkout, "stage", "sft")
    assert refused.returncode == 1
    sentence = f"eviflow: {checkout.sft_rows} was not made for this training: its rows have changed since"
    assert refused.stderr.splitlines()[-1].startswith(sentence)
    assert not checkout.sft_policy.exists()

    assert eviflow(checkout, "stage", "sft-rows").returncode == 0
    params = yaml.safe_load(checkout.params.read_text())
    params["sft_rows"]["report_weight"] = 4.0
    checkout.params.write_text(yaml.safe_dump(params))
    refused = eviflow(checkout, "stage", "sft")
    assert refused.returncode == 1
    assert "sft_rows.report_weight is 4.0 and was 2.0; run `eviflow stage sft-rows`" in refused.stderr
