"""Fixtures that several parts of the suite share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def no_foreign_servers() -> Iterator[None]:
    """Tests write to stores of their own, whatever servers the developer's shell names."""
    foreign = {
        name: value for name, value in os.environ.items() if name.startswith(("MLFLOW_", "PREFECT_", "EVIFLOW_"))
    }
    for name in foreign:
        del os.environ[name]
    yield
    os.environ.update(foreign)


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory: pytest.TempPathFactory, no_foreign_servers: None) -> Path:
    """An empty MLflow store. Migrating one takes seconds and copying it does not, so tests copy."""
    from components.config.paths import Paths
    from components.config.settings import Settings
    from components.tracking.store import DATABASE, open_store

    root = tmp_path_factory.mktemp("mlflow-template")
    open_store(Paths(root), "template", Settings())
    return root / DATABASE
