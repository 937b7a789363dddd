"""Fixtures that several parts of the suite share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def migrated_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty MLflow store. Migrating one takes seconds and copying it does not, so tests copy."""
    from components.config.paths import Paths
    from components.config.settings import Settings
    from components.tracking.store import DATABASE, open_store

    root = tmp_path_factory.mktemp("mlflow-template")
    open_store(Paths(root), "template", Settings())
    return root / DATABASE
