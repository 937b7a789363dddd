"""Policies by the names that `params.yaml` gives them: the scripted teacher, and models on servers.

A model on a server is made here and nowhere else, and is tried out before a stage begins to ask it.
"""

import asyncio
from pathlib import Path
from typing import Any

from components.config.paths import Paths
from components.config.schema import Params
from components.config.served import SCRIPTED, is_served, read_served_model
from components.config.settings import load_service_settings
from components.policies.openai import OpenAiPolicy
from components.policies.scripted import ScriptedTeacher
from components.policies.served_check import ServerCheck
from components.policies.vocabulary import Vocabulary
from components.records.conversation import Policy
from components.records.episode import Turn
from components.records.image_bank import ImageBank
from components.records.usage import START_CHECK
from components.rollout.spending import Spending
from components.storage.atomic import write_bytes, write_json
from components.tools.looking_check import check_looking

CHECKED = "server.json"
"""What the start-up check has found out about the server that a rollout asks."""


def served_policy(name: str, params: Params, paths: Paths, bank: ImageBank) -> OpenAiPolicy:
    """The policy `openai:URL#MODEL`, asked as section `serving` says.

    Raises:
        UsageError: `name` has another form, or `serving.tokenizer` names no tokenizer.

    """
    return OpenAiPolicy(
        read_served_model(name),
        params.serving,
        bank,
        key=load_service_settings(paths.root).openai_key,
        kept=paths.quarantine,
        vocabulary=_vocabulary(params, paths),
    )


def start_policy(
    name: str, params: Params, paths: Paths, bank: ImageBank, *, folder: Path, spending: Spending
) -> Policy:
    """The policy of a stage, `scripted` or `openai:URL#MODEL`; servers are tried out first, on the stage's account.

    Args:
        name: of the policy.
        params: all settings.
        paths: the checkout.
        bank: where the conversations' pictures are found.
        folder: the stage's unfinished work, where what was found out is kept.
        spending: the stage's account.

    Raises:
        PreflightError: its server, or that of the model that looks, is not there, or does not do what it is going to
            be asked.
        UsageError: there is no policy of that name.

    """
    check_looking(params, paths, spending.account(START_CHECK))
    if name == SCRIPTED:
        return ScriptedTeacher()
    policy = served_policy(name, params, paths, bank)

    def charge(reply: Turn | Exception) -> None:
        spending.charge_turn(START_CHECK, policy.name, reply)

    served, key = read_served_model(name), load_service_settings(paths.root).openai_key
    checked = asyncio.run(ServerCheck(served, params.serving, key, charge).check())
    write_json(folder / CHECKED, checked)
    return policy


def worker_policy(params: Params, paths: Paths, bank: ImageBank, *, source: str) -> Policy:
    """The same in another process of the stage, where the server needs no second try."""
    return ScriptedTeacher() if source == SCRIPTED else served_policy(source, params, paths, bank)


def keep_check(folder: Path, to: Path) -> None:
    """Lay what was found out about a rollout's server beside its episodes."""
    if (folder / CHECKED).exists():
        write_bytes(to / CHECKED, (folder / CHECKED).read_bytes())


def policy_settings(name: str, params: Params, paths: Paths) -> dict[str, Any]:
    """What a policy's episodes depend on, as JSON values: of section `serving` nothing where nobody is served."""
    if not is_served(name):
        return {"policy": name}
    vocabulary = _vocabulary(params, paths)
    return {
        "policy": name,
        "serving": params.serving.sampling,
        "vocabulary": vocabulary.name if vocabulary else None,
    }


def _vocabulary(params: Params, paths: Paths) -> Vocabulary | None:
    folder = params.serving.tokenizer
    return None if folder is None else Vocabulary(paths.root / folder)
