"""Fixtures that several parts of the suite share."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

if TYPE_CHECKING:
    from object_server import ObjectServer
    from versions_lab import Lab


@pytest.fixture(scope="session", autouse=True)
def no_foreign_servers() -> Iterator[None]:
    """Tests write to stores and ask services of their own, whatever the developer's shell names."""
    prefixes = ("MLFLOW_", "PREFECT_", "EVIFLOW_", "SERPER_", "JINA_", "BAIDU_")
    foreign = {name: value for name, value in os.environ.items() if name.startswith(prefixes)}
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


@pytest.fixture(scope="session")
def object_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator["ObjectServer"]:
    """A real S3 server, SeaweedFS, one for the session."""
    from object_server import running

    with running(tmp_path_factory.mktemp("object-server")) as server:
        yield server


@pytest.fixture(scope="session")
def versions_template(tmp_path_factory: pytest.TempPathFactory) -> "Lab":
    """A repository with two versions of its data. Making one takes a while and copying it does not, so tests copy."""
    from versions_lab import Lab

    lab = Lab(tmp_path_factory.mktemp("versions"))
    lab.build()
    return lab


@pytest.fixture
def lab(versions_template: "Lab", tmp_path: Path) -> "Lab":
    """Two versions in the cache, the second checked out, and no remote."""
    from versions_lab import copy_of

    return copy_of(versions_template, tmp_path / "lab")
