"""A checkout with a few reviewed episodes and a tiny student, made once and copied."""

import shutil
from pathlib import Path

import pytest
from row_samples import counted, encoder_of, episode, make_checkout, many_pictures, searched

from components.config.paths import Paths
from components.policies.encoding import ChatEncoder


@pytest.fixture(scope="session")
def row_template(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    episodes = [many_pictures(), episode("plain", counted(), searched()), episode("quick", counted(), colour="blue")]
    return make_checkout(tmp_path_factory.mktemp("rows"), episodes)


@pytest.fixture(scope="session")
def student_encoder(row_template: Paths) -> ChatEncoder:
    return encoder_of(row_template)


@pytest.fixture
def paths(row_template: Paths, tmp_path: Path) -> Paths:
    """The checkout, for a test of its own."""
    return Paths(shutil.copytree(row_template.root, tmp_path / "checkout"))
