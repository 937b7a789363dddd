"""One investigation of any picture file, step by step.

eviflow investigate IMAGE --policy scripted
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from components.agent.loop import Investigation
from components.config.paths import Paths
from components.config.schema import Params
from components.errors import UsageError
from components.policies.scripted import ScriptedTeacher
from components.records.case import Case
from components.records.conversation import Policy
from components.records.episode import Episode, Step
from components.records.image_bank import ImageBank, asset_path
from components.records.image_check import read_picture
from components.rollout.cases import find_case
from components.rollout.spending import Spending
from components.tools.metering import charged_to
from components.tools.services import open_services

POLICIES = ("scripted", "sft", "base")


def investigate(
    image: Path,
    params: Params,
    paths: Paths,
    policy: str | None = None,
    on_step: Callable[[Step], None] = lambda step: None,
    spending: Spending | None = None,
) -> Episode:
    """Investigate one picture and return the whole episode.

    Args:
        image: a picture file, or the id of a case of the benchmark.
        params: all settings.
        paths: the checkout, whose world is searched.
        policy: `scripted`, `sft` or `base`; None takes the newest trained one.
        on_step: called after every turn.
        spending: keeps account of what is sent; None where nobody asks.

    Raises:
        UsageError: the picture cannot be used, or there is no such policy.
        EviflowError: the world has not been built.

    """
    data = find_picture(image, paths)
    bank = investigation_bank(paths)
    digest = bank.put(data)
    case = Case(case_id=f"picture-{digest[:12]}", image_path=asset_path(digest), image_sha256=digest)
    chosen = find_policy(policy, params, paths, bank)
    spending = spending or Spending(params.prices)
    return asyncio.run(_investigate(case, data, chosen, params, paths, bank, on_step, spending))


def investigation_bank(paths: Paths) -> ImageBank:
    """Where the pictures of single investigations are kept."""
    return ImageBank(paths.work / "investigations", also=[paths.benchmark, paths.web])


def find_picture(image: Path, paths: Paths) -> bytes:
    """A picture ready to be investigated, from a file or, where there is no such file, from the benchmark.

    Raises:
        UsageError: there is neither, or the file cannot be used.

    """
    found = None if image.exists() else find_case(paths.benchmark, str(image))
    return read_picture(image) if found is None else ImageBank(paths.benchmark).read(found[1].image_sha256)


def find_policy(name: str | None, params: Params, paths: Paths, bank: ImageBank) -> Policy:
    """The policy of that name, the trained one for None.

    Raises:
        UsageError: there is no policy of that name, or it has not been made yet.

    """
    if name is not None and name not in POLICIES:
        raise UsageError(f"there is no policy `{name}`; the policies are {', '.join(POLICIES)}")
    if name == "scripted":
        return ScriptedTeacher()
    folder = paths.base_policy if name == "base" else paths.sft_policy
    if not (folder / "config.json").exists():
        raise UsageError(f"{folder} holds no policy yet; run `make demo`, or use `--policy scripted`")
    from components.policies.local import LocalPolicy

    return LocalPolicy(
        folder,
        bank,
        name=name or "sft",
        max_new_tokens=params.evaluation.max_new_tokens,
        max_length=params.policy.max_length,
    )


async def _investigate(
    case: Case,
    image: bytes,
    policy: Policy,
    params: Params,
    paths: Paths,
    bank: ImageBank,
    on_step: Callable[[Step], None],
    spending: Spending,
) -> Episode:
    async with open_services(params, paths, bank) as services:
        toolbox = services.toolbox(case, image)
        seed = params.evaluation.seed
        investigation = Investigation(case, toolbox, params.agent, policy=policy.name, seed=seed)
        name = investigation.episode().episode_id
        with charged_to(spending.account(name)):
            while not investigation.done:
                (turn,) = await asyncio.to_thread(policy.act, [investigation.conversation()])
                spending.charge_turn(name, policy.name, turn)
                on_step(await investigation.advance(turn))
    return investigation.episode()
