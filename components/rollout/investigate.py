"""One investigation of any picture file, step by step.

eviflow investigate IMAGE --policy scripted
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple

from components.agent.codec import parse_turn
from components.agent.loop import Investigation
from components.config.paths import Paths
from components.config.schema import Params
from components.config.served import FORM, SCRIPTED, is_served
from components.config.settings import variable
from components.errors import EviflowError, UsageError, unknown_name
from components.policies.scripted import ScriptedTeacher
from components.records.case import Case
from components.records.conversation import Policy
from components.records.episode import Episode, Step, Turn
from components.records.image_bank import ImageBank, asset_path
from components.records.image_check import read_picture
from components.rollout.asking import Asker, asking
from components.rollout.cases import find_case
from components.rollout.choices import EVERY_TOOL, ToolChoice
from components.rollout.policies import served_policy
from components.rollout.show import call_text
from components.rollout.spending import Spending
from components.tools.clients.errors import Overloaded, Rejected, ServiceError
from components.tools.metering import charged_to
from components.tools.services import open_services

POLICIES = (SCRIPTED, "sft", "base")
_SHOWN_CHARS = 60


class PolicyFailed(EviflowError):
    """The policy gave no turn that may be used.

    Args:
        sentence: why, and what to do.
        episode: what there was of the investigation.

    """

    def __init__(self, sentence: str, episode: Episode) -> None:
        super().__init__(sentence)
        self.episode = episode


class Watch(NamedTuple):
    """Who is told of an investigation while it goes on."""

    step: Callable[[Step], None] = lambda step: None
    """Called after every turn."""
    doing: Callable[[str], AbstractContextManager[object]] = nullcontext
    """Open for as long as what it is given takes: "turn 3: thinking"."""


_NOBODY = Watch()


def investigate(
    image: Path,
    params: Params,
    paths: Paths,
    policy: str | None = None,
    watch: Watch = _NOBODY,
    tools: ToolChoice = EVERY_TOOL,
    spending: Spending | None = None,
) -> Episode:
    """Investigate one picture and return the whole episode.

    Args:
        image: a picture file, or the id of a case of the benchmark.
        params: all settings.
        paths: the checkout, whose world is searched.
        policy: `scripted`, `sft`, `base` or `openai:URL#MODEL`; None takes the newest trained one.
        watch: who is told of it meanwhile.
        tools: what may be used.
        spending: keeps account of what is sent; None where nobody asks.

    Raises:
        UsageError: the picture cannot be used, or there is no such policy.
        PolicyFailed: the policy's server gave no turn that may be used; holds what there was until then.
        EviflowError: the world has not been built.

    """
    data = find_picture(image, paths)
    bank = investigation_bank(paths)
    digest = bank.put(data)
    case = Case(case_id=f"picture-{digest[:12]}", image_path=asset_path(digest), image_sha256=digest)
    chosen = find_policy(policy, params, paths, bank)
    spending = spending or Spending(params.prices)
    return asyncio.run(_investigate(case, data, chosen, params, paths, bank, watch, tools, spending))


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
    if name is not None and is_served(name):
        return served_policy(name, params, paths, bank)
    if name is not None and name not in POLICIES:
        raise unknown_name("policy", name, [*POLICIES, FORM])
    if name == SCRIPTED:
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
    watch: Watch,
    tools: ToolChoice,
    spending: Spending,
) -> Episode:
    async with open_services(params, paths, bank) as services:
        toolbox = services.toolbox(case, image, only=tools.only, without=tools.without)
        seed = params.evaluation.seed
        investigation = Investigation(case, toolbox, params.agent, policy=policy.name, seed=seed)
        name = investigation.episode().episode_id
        async with asking(policy, 1) as asker:
            with charged_to(spending.account(name)):
                while not investigation.done:
                    turn = await _ask(investigation, policy, asker, watch, spending)
                    await _advance(investigation, turn, watch)
    return investigation.episode()


async def _ask(investigation: Investigation, policy: Policy, asker: Asker, watch: Watch, spending: Spending) -> Turn:
    """The policy's next turn, which is charged; raises PolicyFailed when its server gives none."""
    number = len(investigation.steps) + 1
    with watch.doing(f"turn {number}: thinking"):
        (turn,) = await asker.ask([investigation.conversation()])
    spending.charge_turn(investigation.episode().episode_id, policy.name, turn)
    if isinstance(turn, ServiceError):
        investigation.abort()
        raise PolicyFailed(_why(policy, number, turn), investigation.episode()) from turn
    if isinstance(turn, Exception):
        raise turn
    return turn


async def _advance(investigation: Investigation, turn: Turn, watch: Watch) -> None:
    """What follows a turn."""
    with watch.doing(f"turn {len(investigation.steps) + 1}: {_running(turn)}"):
        step = await investigation.advance(turn)
    watch.step(step)


def _running(turn: Turn) -> str:
    """What a turn does, in a few words; what a model wrote may not move the cursor."""
    call = parse_turn(turn.text).call
    text = "".join(sign if sign.isprintable() else " " for sign in call_text(call)) if call else "reading the turn"
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 3]}..."


def _why(policy: Policy, number: int, error: ServiceError) -> str:
    mend = ""
    if isinstance(error, Rejected):
        mend = f"; look at {variable('openai_key')}"
    elif isinstance(error, Overloaded):
        mend = "; see whether its server runs, and try again"
    return f"policy {policy.name} gave no turn {number} that may be used: {error}{mend}"
