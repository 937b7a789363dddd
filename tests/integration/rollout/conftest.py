import shutil
from pathlib import Path

import pytest

from components.config.paths import Paths
from components.config.schema import BenchmarkParams, EpisodeParams, EvaluationParams, Params, WorldParams
from components.curation.build import build_benchmark, build_world
from components.release.stage import release_candidates

PARAMS = Params(
    world=WorldParams(train_events=8, test_events=6),
    benchmark=BenchmarkParams(images_per_event=1, supported_share=0.5),
    episodes=EpisodeParams(concurrency=8),
    evaluation=EvaluationParams(bootstrap_samples=200),
)


@pytest.fixture(scope="session")
def params() -> Params:
    return PARAMS


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a small world and benchmark; tests work on copies."""
    root = tmp_path_factory.mktemp("built")
    build_world(PARAMS, Paths(root))
    build_benchmark(PARAMS, Paths(root))
    release_candidates(PARAMS, Paths(root))
    return root


@pytest.fixture
def paths(built: Path, tmp_path: Path) -> Paths:
    """A copy of the checkout, with the answers that cost time to compute."""
    root = tmp_path / "checkout"
    shutil.copytree(built, root)
    return Paths(root)
