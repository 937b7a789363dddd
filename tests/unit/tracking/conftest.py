"""A tracking store of its own for each test."""

import shutil
from pathlib import Path

import pytest

from components.config.paths import Paths
from components.config.settings import Settings
from components.tracking.store import DATABASE, Store, open_store


@pytest.fixture
def checkout(tmp_path: Path, migrated_database: Path) -> Paths:
    shutil.copy(migrated_database, tmp_path / DATABASE)
    return Paths(tmp_path)


@pytest.fixture
def store(checkout: Paths) -> Store:
    return open_store(checkout, "eviflow", Settings())
