"""A copy of the checkout with a smaller world and a shorter training."""

import shutil
from pathlib import Path

import pytest
import yaml
from chain_checkout import Checkout

from components.config.schema import Params

ROOT = Path(__file__).parents[3]
SMALLER = {
    "world": {"train_events": 24, "test_events": 8},
    "drills": {"copy_steps": 2, "compare_steps": 2, "long_steps": 2, "batch_size": 2},
    "sft": {"steps": 12, "batch_size": 4, "checkpoint_steps": 2},
    "evaluation": {"bootstrap_samples": 50, "max_new_tokens": 24, "untrained_max_new_tokens": 8},
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    root = tmp_path_factory.mktemp("chain")
    for name in ("components", "flows"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dvc.yaml", ".dvcignore", ".dvc/config", ".dvc/.gitignore", "reviews/cases/README.md"):
        (root / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(ROOT / name, root / name)
    params = Params().model_dump(mode="json")
    for section, values in SMALLER.items():
        params[section] |= values
    (root / "params.yaml").write_text(yaml.safe_dump(params))
    return Checkout(root)
