"""A rollout that is run shard by shard, as workers do it, though in this process."""

from pathlib import Path

import pytest

from components.config.paths import Paths
from components.config.schema import BudgetLimit, Params, RolloutParams
from components.errors import PreflightError
from components.records.case import Split
from components.records.episode import Episode
from components.rollout.cases import load_cases
from components.rollout.policies import named_policy
from components.rollout.sharing import PolicySpec, RolloutRequest, SharedJob, run_jobs, run_shard, write_request
from components.rollout.spending import LEDGER, Spending
from components.rollout.store import Layout, RolloutStore

pytestmark = pytest.mark.slow
SHARDS, FLAG = 3, "drain-1"
NO_LIMIT = BudgetLimit(usd=None, calls=None)


@pytest.fixture
def folder(paths: Paths) -> Path:
    folder = paths.work / "rollouts/some"
    assert RolloutStore(folder, Layout(shards=SHARDS)).layout.shards == SHARDS
    return folder


def request_for(params: Params, paths: Paths, limit: BudgetLimit = NO_LIMIT) -> RolloutRequest:
    return RolloutRequest(
        root=str(paths.root),
        params=params.model_copy(update={"rollout": RolloutParams(executor="ray", shards=SHARDS)}),
        policy=PolicySpec.of(named_policy, "scripted", source="scripted"),
        jobs=tuple(SharedJob(case=case, seed=26) for case in load_cases(paths, Split.TRAIN)),
        banks=(str(paths.benchmark), str(paths.web)),
        concurrency=2,
        title="shared",
        stage="episodes",
        limit=limit,
    )


def told(episodes: dict[str, Episode]) -> dict[str, tuple[object, ...]]:
    return {name: (item.report, [seen.text for seen in item.observations]) for name, item in episodes.items()}


def test_shards_one_after_another_give_what_one_process_gives(params: Params, paths: Paths, folder: Path) -> None:
    request = request_for(params, paths)
    write_request(folder, request)
    results = [run_shard(folder, shard, folder / FLAG) for shard in range(SHARDS)]
    assert {result.ended for result in results} == {"done"}
    assert sum(result.episodes for result in results) == len(request.jobs)
    shared = RolloutStore(folder).episodes()

    alone = folder.with_name("alone")
    policy = named_policy(params, paths, request.bank(alone), source="scripted")
    spending = Spending(params.prices, alone / LEDGER)
    whole = run_jobs(request, [job.as_job() for job in request.jobs], alone, policy, spending)
    assert told(shared) == told({episode.episode_id: episode for episode in whole})
    together = Spending(params.prices, beside=[folder / f"shard-{shard:04d}" / LEDGER for shard in range(SHARDS)])
    assert together.spent == spending.spent


def test_a_worker_that_is_asked_by_the_file_begins_nothing(params: Params, paths: Paths, folder: Path) -> None:
    write_request(folder, request_for(params, paths))
    (folder / FLAG).touch()
    result = run_shard(folder, 0, folder / FLAG)
    assert result.ended == "drained"
    assert result.episodes < len(load_cases(paths, Split.TRAIN)) / SHARDS + 3


def test_workers_share_a_budget(params: Params, paths: Paths, folder: Path) -> None:
    write_request(folder, request_for(params, paths, BudgetLimit(usd=None, calls=8)))
    ended = [run_shard(folder, shard, folder / FLAG).ended for shard in range(SHARDS)]
    assert ended[-1] == "budget", "what the other shards have spent counts"
    spent = Spending(params.prices, beside=[folder / f"shard-{shard:04d}" / LEDGER for shard in range(SHARDS)])
    assert 8 <= spent.requests < 20


def test_a_shard_has_one_worker(params: Params, paths: Paths, folder: Path) -> None:
    write_request(folder, request_for(params, paths))
    with RolloutStore(folder).written([0]), pytest.raises(PreflightError, match="another process writes"):
        run_shard(folder, 0, folder / FLAG)
