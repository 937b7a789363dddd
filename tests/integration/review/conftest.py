import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chromium import chromium
from playwright.sync_api import Browser
from release_samples import write_unscreened
from review_server import ROOT, Server

from components.config.paths import Paths
from components.config.schema import BenchmarkParams, Params, WorldParams
from components.curation.benchmark import read_facts
from components.curation.build import build_world
from components.curation.prepare import prepare
from components.records.case import Case, Split
from components.records.episode import Episode, Observation, Report, Step, StepKind, Termination, ToolCall, Turn
from components.records.shards import write_episodes
from components.world.store import read_pages, write_pages

PARAMS = Params(
    world=WorldParams(train_events=5, test_events=5), benchmark=BenchmarkParams(images_per_event=2, supported_share=0.5)
)
HOSTILE = "<script>document.title = 'obeyed'</script><img src=x onerror=\"document.title = 'obeyed'\">"


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with ten cases of each split, drawn from a small world and not screened, and two episodes."""
    paths = Paths(tmp_path_factory.mktemp("drawn"))
    build_world(PARAMS, paths)
    prepared = prepare(read_facts(paths.facts), PARAMS, paths)
    write_pages(paths.web, [page.model_copy(update={"title": HOSTILE}) for page in read_pages(paths.web)])
    rows = write_unscreened(paths, prepared, PARAMS)
    write_episodes(paths.episodes / "episodes.parquet", [episode(case) for case, _ in rows[Split.TRAIN][:2]])
    shutil.copytree(paths.candidates, paths.benchmark)
    shutil.copytree(paths.candidates_gold, paths.gold)
    shutil.copy(ROOT / "params.yaml", paths.root)
    return paths.root


def episode(case: Case) -> Episode:
    """Three steps and a report, each step with a picture."""
    steps = [
        Step(
            index=index,
            kind=StepKind.ACTION,
            turn=Turn(text="turn"),
            thought=f"look {index}",
            call=ToolCall(name="crop_and_inspect", arguments_json='{"focus_question": "who?"}'),
            observation=Observation(
                observation_id=f"o{index + 1}",
                tool="crop_and_inspect",
                status="success",
                text=HOSTILE,
                images=(case.image_sha256,),
            ),
        )
        for index in range(3)
    ]
    return Episode(
        episode_id=f"{case.case_id}--scripted--s1",
        case=case,
        policy="scripted",
        seed=1,
        exposed_tools=("crop_and_inspect",),
        action_budget=24,
        steps=(*steps, Step(index=3, kind=StepKind.REPORT, turn=Turn(text="report"))),
        report=Report(verdict="supported", explanation="all the same", cited=("o1",)),  # type: ignore[arg-type]
        termination=Termination.FINISHED,
        started_at="2031-01-01T00:00:00+00:00",
        duration_s=1.0,
    )


@pytest.fixture
def paths(drawn: Path, tmp_path: Path) -> Paths:
    root = tmp_path / "checkout"
    shutil.copytree(drawn, root)
    return Paths(root)


@pytest.fixture
def serve(paths: Paths) -> Iterator[Callable[..., Server]]:
    """Starts servers that end with the test."""
    started: list[Server] = []

    def start(*arguments: str, port: int = 0) -> Server:
        started.append(Server(paths, *arguments, port=port))
        return started[-1]

    yield start
    for server in started:
        server.end()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser
