"""Stage `episodes`: the scripted teacher investigates the training cases.

Each case is investigated several times, with seeds that lead the teacher down different paths. Only public data is
read: the private answers may be deleted before this stage runs.
"""

from collections import Counter
from collections.abc import Sequence

from components.config.paths import Paths
from components.config.schema import Params
from components.policies.scripted import ScriptedTeacher
from components.records.base import Record
from components.records.case import Split
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.records.image_writer import new_shards
from components.records.shards import write_episode_shards
from components.rollout.budget import Budget
from components.rollout.cases import load_cases
from components.rollout.costs import CostRow, cost_table
from components.rollout.engine import Job
from components.rollout.run import copy_pictures, roll_out
from components.rollout.spending import LEDGER, SPENT, Spending
from components.rollout.work import recorded_inputs, rollout_key, work_folder
from components.storage.atomic import replace_folder, write_json
from components.tools.source_policy import policy_of

SECTIONS = ("episodes", "agent", "tools")
INPUTS = ("data/web", "data/evilens_f")
CODE = (
    "components/agent",
    "components/policies/casebook.py",
    "components/policies/inquiry.py",
    "components/policies/reading.py",
    "components/policies/scripted.py",
    "components/policies/slips.py",
    "components/records",
    "components/rollout",
    "components/tools",
    "components/world",
)


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


def collect_teacher(params: Params, paths: Paths) -> EpisodesSummary:
    """Investigate every training case and write `data/episodes`; a killed run goes on where it stopped.

    Raises:
        BudgetReached: `budget` ended it; what is finished is kept, and a larger budget goes on.
        EviflowError: the benchmark is not there.

    """
    cases = load_cases(paths, Split.TRAIN)
    # Consecutive seeds from an even one on let the teacher take both ways where it has a choice.
    seeds = [2 * params.episodes.seed + number for number in range(params.episodes.rollouts_per_case)]
    jobs = [Job(case, seed) for case in cases for seed in seeds]
    policy = ScriptedTeacher()
    settings = params.model_dump(mode="json", include=set(SECTIONS))
    settings |= {"policy": policy.name, "source_policy": policy_of(paths).digest}
    key = rollout_key(paths, settings=settings, inputs=(*INPUTS, *recorded_inputs(params.tools)), code=CODE)
    with work_folder(paths, "episodes", key) as folder:
        spending = Spending(params.prices, folder / LEDGER)
        episodes = roll_out(
            params,
            paths,
            jobs,
            policy,
            bank=ImageBank(folder, also=[paths.benchmark, paths.web]),
            folder=folder,
            concurrency=params.episodes.concurrency,
            title="teacher episodes",
            budget=Budget("episodes", params.budget.episodes, spending),
        )
        with replace_folder(paths.episodes) as staging:
            with new_shards(staging) as bank:
                pictures = copy_pictures(episodes, ImageBank(folder), bank.put)
            write_episode_shards(staging, episodes.by_id)
            write_json(staging / SPENT, spending.spent)
        return _summary(episodes, len(cases), pictures, cost_table(episodes, spending.spent, params.prices).total)


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
