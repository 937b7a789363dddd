from pathlib import Path

import pytest
from review_samples import make_desk, write_checkout

from components.config.paths import Paths
from components.review.desk import Desk


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return write_checkout(tmp_path / "checkout", cases=4)


@pytest.fixture
def desk(paths: Paths) -> Desk:
    return make_desk(paths)
