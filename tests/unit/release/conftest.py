import shutil
from pathlib import Path

import pytest
from release_samples import SCRIPTED, draw_candidates

from components.config.paths import Paths
from components.release.stage import release_candidates


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_candidates(tmp_path_factory.mktemp("candidates")).root


@pytest.fixture
def paths(drawn: Path, tmp_path: Path) -> Paths:
    """A checkout with candidates."""
    shutil.copytree(drawn, tmp_path / "checkout")
    return Paths(tmp_path / "checkout")


@pytest.fixture
def released(paths: Paths) -> Paths:
    """A checkout whose candidates scripted reviewers have decided on."""
    release_candidates(SCRIPTED, paths)
    return paths
