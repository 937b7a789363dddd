"""The systems under evaluation, and their episodes: run once for the same inputs, resumed after a kill."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from components.config.paths import Paths
from components.config.schema import Params
from components.config.served import read_served_model
from components.errors import EviflowError
from components.records.base import Record
from components.records.case import Split
from components.records.conversation import Policy
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.records.shards import read_episodes, write_episodes
from components.records.usage import Spent
from components.rollout.cases import load_cases
from components.rollout.execute import execute
from components.rollout.policies import keep_check, policy_settings, served_policy
from components.rollout.run import copy_pictures
from components.rollout.sharing import PolicySpec, RolloutRequest, SharedJob
from components.rollout.spending import LEDGER, Spending
from components.rollout.work import recorded_inputs, rollout_key, work_folder
from components.storage.atomic import write_json
from components.storage.identity import digest_file
from components.tools.source_policy import policy_of

CODE = (
    "components/agent",
    "components/policies",
    "components/records",
    "components/rollout",
    "components/tools",
    "components/world",
)


class System(NamedTuple):
    """One policy used in one way."""

    name: str
    folder: str
    """The policy, relative to the checkout's root; empty for one on a server."""
    trained: bool
    direct: bool
    """Judges the picture at once, without an investigation."""
    title: str
    served: str = ""
    """`openai:URL#MODEL` for a policy on a server."""

    @property
    def policy_name(self) -> str:
        """What episodes call it."""
        return read_served_model(self.served).name if self.served else self.name


SYSTEMS = (
    System("untrained_direct", "models/base", False, True, "Untrained, judging directly"),
    System("untrained_agent", "models/base", False, False, "Untrained agent"),
    System("sft", "models/sft", True, False, "SFT agent"),
)

SERVED = "served"
"""The system that is a model on a server."""

PolicyMaker = Callable[[System, Params, Paths, ImageBank], Policy]


def systems_of(params: Params) -> tuple[System, ...]:
    """The systems under evaluation, in the order of the report."""
    name = params.evaluation.served
    if name is None:
        return SYSTEMS
    title = f"Served agent ({read_served_model(name).model})"
    return (*SYSTEMS, System(SERVED, "", trained=True, direct=False, title=title, served=name))


class Finished(Record):
    """What says that a system's episodes are in place."""

    key: str
    episodes_sha256: str
    spent: Spent = Spent()
    """By all attempts at them."""


def local_policy(system: System, params: Params, paths: Paths, bank: ImageBank) -> Policy:
    """The system's policy, loaded from its folder into this process."""
    from components.policies.local import LocalPolicy

    evaluation = params.evaluation
    return LocalPolicy(
        paths.root / system.folder,
        bank,
        name=system.name,
        max_new_tokens=evaluation.max_new_tokens if system.trained else evaluation.untrained_max_new_tokens,
        max_length=params.policy.max_length,
    )


def episodes_of(
    system: System,
    params: Params,
    paths: Paths,
    make_policy: PolicyMaker = local_policy,
    before: Spent | None = None,
) -> list[Episode]:
    """The system's episodes on the test cases, one for each, from disk where nothing they depend on has changed.

    Args:
        system: whose.
        params: all settings.
        paths: the checkout.
        make_policy: gives the system's policy.
        before: what systems have spent that share the budget.

    Raises:
        BudgetReached: the budget is spent; what is finished is kept.
        PreflightError: the policy's server is not there, or does not do what it is going to be asked.
        EviflowError: the policy's folder is not there.

    """
    if not system.served and not (paths.root / system.folder / "config.json").exists():
        stage = "sft" if system.trained else "policy"
        raise EviflowError(f"{paths.root / system.folder} holds no policy; run `eviflow stage {stage}`")
    key, output = _key(system, params, paths), paths.evaluation / f"{system.name}.parquet"
    marker = _marker(system, paths)
    if marker.exists() and output.exists():
        finished = Finished.model_validate_json(marker.read_text("utf-8"))
        if (finished.key, finished.episodes_sha256) == (key, digest_file(output)):
            return read_episodes(output)
    with work_folder(paths, system.name, key) as folder:
        spending = Spending(params.prices, folder / LEDGER, before)
        episodes, spending = _run(system, params, paths, folder, make_policy, spending)
        copy_pictures(episodes, ImageBank(folder), ImageBank(paths.evaluation).put)
        keep_check(folder, paths.evaluation)
        write_episodes(output, episodes)
        write_json(marker, Finished(key=key, episodes_sha256=digest_file(output), spent=spending.spent))
    return episodes


def spent_of(system: System, paths: Paths) -> Spent:
    """What all attempts at the system's finished episodes have sent."""
    return Finished.model_validate_json(_marker(system, paths).read_text("utf-8")).spent


def _marker(system: System, paths: Paths) -> Path:
    return paths.evaluation / f"{system.name}.json"


def system_policy(params: Params, paths: Paths, bank: ImageBank, *, system: str) -> Policy:
    """The policy of the system of that name, for a worker."""
    (found,) = (one for one in systems_of(params) if one.name == system)
    return _served(found, params, paths, bank) if found.served else local_policy(found, params, paths, bank)


def _served(system: System, params: Params, paths: Paths, bank: ImageBank) -> Policy:
    return served_policy(system.served, params, paths, bank)


def _run(
    system: System, params: Params, paths: Paths, folder: Path, make_policy: PolicyMaker, spending: Spending
) -> tuple[list[Episode], Spending]:
    request = RolloutRequest(
        root=str(paths.root),
        params=params,
        policy=PolicySpec.of(system_policy, system.policy_name, system=system.name),
        jobs=tuple(
            SharedJob(case=case, seed=params.evaluation.seed, direct=system.direct)
            for case in load_cases(paths, Split.TEST)
        ),
        banks=(str(paths.benchmark), str(paths.web)),
        concurrency=params.evaluation.concurrency,
        title=system.title,
        stage="evaluation",
        limit=params.budget.evaluation,
        before=spending.before,
    )
    maker = _served if system.served else make_policy

    def policy() -> Policy:
        return maker(system, params, paths, request.bank(folder))

    episodes, spent = execute(request, folder, spending, policy, system.served)
    return list(episodes), spent


def _key(system: System, params: Params, paths: Paths) -> str:
    settings = params.model_dump(mode="json", include={"agent", "tools"}) | _own_settings(system, params, paths)
    settings["source_policy"] = policy_of(paths).digest
    inputs = ("data/web", "data/evilens_f/test.jsonl", "data/evilens_f/assets", system.folder)
    return rollout_key(
        paths,
        settings=settings,
        inputs=(*filter(None, inputs), *recorded_inputs(params.tools)),
        code=CODE,
    )


def _own_settings(system: System, params: Params, paths: Paths) -> dict[str, Any]:
    """What this system's episodes depend on, and no other's. How they are judged afterwards changes none."""
    if system.served:
        return {"evaluation": {"seed": params.evaluation.seed}} | policy_settings(system.served, params, paths)
    return {
        "evaluation": params.evaluation.model_dump(mode="json", exclude={"bootstrap_samples", "confidence", "served"}),
        "max_length": params.policy.max_length,
        "system": system._asdict(),
    }
