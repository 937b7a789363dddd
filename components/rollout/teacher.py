"""Stage `episodes`: the teacher investigates the training cases; later phases repeat it for some of them.

Each case is investigated several times, with seeds that lead the teacher down different paths. Only public data is
read: the private answers may be deleted before this stage runs.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from components.config.paths import Paths
from components.config.schema import EpisodeParams, Params
from components.config.served import is_served
from components.records.base import Record
from components.records.case import Case, Split
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.records.image_writer import new_shards
from components.records.shards import write_episode_shards
from components.records.usage import Spent
from components.rollout.cases import load_cases
from components.rollout.costs import CostRow, cost_table
from components.rollout.execute import execute
from components.rollout.policies import keep_check, named_policy, policy_name, policy_settings
from components.rollout.run import PAID, copy_pictures
from components.rollout.sharing import PolicySpec, RolloutRequest, SharedJob
from components.rollout.spending import LEDGER, SPENT, Spending
from components.rollout.store import Finished
from components.rollout.teacher_code import CODE
from components.rollout.work import recorded_inputs, rollout_key, work_folder
from components.storage.atomic import replace_folder, write_json
from components.tools.source_policy import policy_of

SECTIONS = ("episodes", "agent", "tools")
INPUTS = ("data/web", "data/evilens_f")


class EpisodesSummary(Record):
    """What the teacher's investigations came to."""

    cases: int
    episodes: int
    terminations: dict[str, int]
    actions: int
    """Executed tool calls, all episodes together."""
    pictures: int
    """Pictures that tools made and the episodes show."""
    requests: int
    """What the episodes ask services."""
    list_usd: float
    """What that takes at list prices."""
    spent_usd: float
    """What vendors want for what was really sent; nothing in the closed world."""


class Phase(NamedTuple):
    """One collection of episodes. What it has collected never changes again."""

    cases: Sequence[Case]
    seeds: Sequence[int]
    """Of each case's episodes; no two phases share one."""
    target: Path
    """The folder that appears when all of them are there."""
    title: str
    """What the progress bar says."""
    before: Spent = Spent()
    """What was spent under the same budget before."""


def collect_teacher(params: Params, paths: Paths) -> EpisodesSummary:
    """Investigate every training case and write `data/episodes`; a killed run goes on where it stopped.

    Raises:
        BudgetReached: `budget` ended it; what is finished is kept, and a larger budget goes on.
        PreflightError: the teacher's server is not there, or does not do what it is going to be asked.
        EviflowError: the benchmark is not there.

    """
    cases = load_cases(paths, Split.TRAIN)
    phase = Phase(cases, phase_seeds(params.episodes, 1), paths.episodes, "teacher episodes")
    # A kill behind the last episode leaves a stage that DVC runs again: what was paid for is found again then.
    paid = is_served(params.episodes.policy) or params.tools.transport in PAID
    with teacher_work(params, paths, "episodes", keep=paid) as folder:
        return collect_phase(params, paths, phase, folder)


def phase_seeds(episodes: EpisodeParams, attempt: int) -> list[int]:
    """The seeds of a phase, counted from 1."""
    # Consecutive seeds from an even one on let the teacher take both ways where it has a choice.
    stride = episodes.rollouts_per_case + episodes.rollouts_per_case % 2
    first = 2 * episodes.seed + (attempt - 1) * stride
    return [first + number for number in range(episodes.rollouts_per_case)]


@contextmanager
def teacher_work(params: Params, paths: Paths, stage: str, *, keep: bool = False) -> Iterator[Path]:
    """The folder of a stage's unfinished episodes, named by everything that they depend on; see `work_folder`."""
    settings = params.model_dump(mode="json", include=set(SECTIONS))
    settings |= policy_settings(params.episodes.policy, params, paths) | {"source_policy": policy_of(paths).digest}
    key = rollout_key(paths, settings=settings, inputs=(*INPUTS, *recorded_inputs(params.tools)), code=CODE)
    with work_folder(paths, stage, key, keep=keep) as folder:
        yield folder


def collect_phase(params: Params, paths: Paths, phase: Phase, folder: Path) -> EpisodesSummary:
    """Investigate a phase's cases and write its episodes, their pictures and what they took to `phase.target`.

    Args:
        params: all settings.
        paths: the checkout; only what is public is read.
        phase: what to collect.
        folder: of unfinished work, see `teacher_work`; each phase has its own.

    Raises:
        BudgetReached: `budget` ended it; what is finished is kept in `folder`.
        PreflightError: the teacher's server is not there, or does not do what it is going to be asked.

    """
    episodes, spending = _investigated(params, paths, phase, folder)
    with replace_folder(phase.target) as staging:
        with new_shards(staging) as shards:
            pictures = copy_pictures(episodes, ImageBank(folder), shards.put)
        write_episode_shards(staging, episodes.by_id)
        write_json(staging / SPENT, spending.spent)
        keep_check(folder, staging)
    cost = cost_table(episodes, spending.spent, params.prices).total
    return _summary(episodes, len(phase.cases), pictures, cost)


def _investigated(params: Params, paths: Paths, phase: Phase, folder: Path) -> tuple[Finished, Spending]:
    """A phase's episodes, and what they took."""
    spending = Spending(params.prices, folder / LEDGER, phase.before)
    banks = (paths.benchmark, paths.web)
    source = params.episodes.policy
    request = RolloutRequest(
        root=str(paths.root),
        params=params,
        policy=PolicySpec.of(named_policy, policy_name(source), source=source),
        jobs=tuple(SharedJob(case=case, seed=seed) for case in phase.cases for seed in phase.seeds),
        banks=tuple(map(str, banks)),
        concurrency=params.episodes.concurrency,
        title=phase.title,
        stage="episodes",
        limit=params.budget.episodes,
        before=phase.before,
    )
    return execute(
        request, folder, spending, lambda: named_policy(params, paths, request.bank(folder), source=source), source
    )


def _summary(episodes: Sequence[Episode], cases: int, pictures: int, cost: CostRow) -> EpisodesSummary:
    # Each is read from disk when it is asked for, so all of them are gone through once.
    ends = [(episode.termination.value, episode.actions_used) for episode in episodes]
    return EpisodesSummary(
        cases=cases,
        episodes=len(ends),
        terminations=dict(sorted(Counter(termination for termination, _ in ends).items())),
        actions=sum(actions for _, actions in ends),
        pictures=pictures,
        requests=cost.requests,
        list_usd=round(cost.list_usd, 6),
        spent_usd=round(cost.spent_usd, 6),
    )
