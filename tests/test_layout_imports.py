"""What may be loaded without loading anything heavy. Each case runs in a fresh interpreter."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("torch", "transformers", "mlflow", "prefect", "dvc", "cv2", "rapidocr", "sklearn", "scipy", "boto3")


def loaded_by(module: str) -> set[str]:
    program = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(found.stdout.split())


@pytest.mark.parametrize(
    "module",
    [
        "components.config",
        "components.config.load",
        "components.config.settings",
        "components.records.episode",
        "components.storage.lock",
        "components.storage.dvc",
        "components.cli",
        "components.commands.finished",
        "components.commands.summary",
        "components.commands.data_show",
        "components.commands.trained",
        "components.storage.rollback",
        "components.storage.s3",
    ],
)
def test_a_light_module_loads_nothing_heavy(module: str) -> None:
    assert loaded_by(module) == set()


def test_components_do_not_load_prefect_to_track() -> None:
    assert "prefect" not in loaded_by("components.tracking.traces")
