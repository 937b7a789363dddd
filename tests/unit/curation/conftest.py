import pytest

from components.config.paths import Paths
from components.config.schema import BenchmarkParams, Params, WorldParams
from components.curation.build import BenchmarkSummary, WorldSummary, build_benchmark, build_world


@pytest.fixture(scope="session")
def small_params() -> Params:
    return Params(world=WorldParams(train_events=8, test_events=4), benchmark=BenchmarkParams(supported_share=0.5))


@pytest.fixture(scope="session")
def small_world(small_params: Params, tmp_path_factory: pytest.TempPathFactory) -> tuple[Paths, WorldSummary]:
    paths = Paths(tmp_path_factory.mktemp("checkout"))
    return paths, build_world(small_params, paths)


@pytest.fixture(scope="session")
def small_benchmark(small_params: Params, small_world: tuple[Paths, WorldSummary]) -> tuple[Paths, BenchmarkSummary]:
    paths = small_world[0]
    return paths, build_benchmark(small_params, paths)
