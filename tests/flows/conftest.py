"""One Prefect server for the session, and small checkouts whose data stages are a line of Python."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.config.paths import Paths
from components.config.settings import Settings
from components.tracking.store import DATABASE, Store, open_store

DVC = """\
stages:
  world:
    cmd: python make.py
    params: [world]
    outs: [data/web]
    metrics:
      - reports/data/world.json: {cache: false}
"""
MAKE = """\
import json, pathlib
report = json.dumps({"pages": 3, "why": {"a:b": 1}})
for name, text in {"data/web/pages": "pages", "reports/data/world.json": report}.items():
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
"""


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=120):
        yield


@pytest.fixture
def checkout(tmp_path: Path, migrated_database: Path) -> Paths:
    shutil.copy(migrated_database, tmp_path / DATABASE)
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text("[core]\n    analytics = false\n")
    (tmp_path / "dvc.yaml").write_text(DVC)
    (tmp_path / "make.py").write_text(MAKE)
    (tmp_path / "params.yaml").write_text("world: {seed: 3}\n")
    return Paths(tmp_path)


@pytest.fixture
def store(checkout: Paths) -> Store:
    return open_store(checkout, "eviflow", Settings())
