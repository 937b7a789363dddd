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


def named_policy(params: Params, paths: Paths, bank: ImageBank, *, source: str) -> Policy:
    """The policy `scripted` or `openai:URL#MODEL`.

    Raises:
        UsageError: there is no policy of that name.

    """
    return ScriptedTeacher() if source == SCRIPTED else served_policy(source, params, paths, bank)


def policy_name(source: str) -> str:
    """What episodes call that policy."""
    return ScriptedTeacher.name if source == SCRIPTED else read_served_model(source).name


def check_servers(source: str, params: Params, paths: Paths, folder: Path, spending: Spending) -> None:
    """Try out the models that a stage is going to ask, on the stage's account.

    Args:
        source: of the policy; one that is no `openai:URL#MODEL` has no server.
        params: all settings.
        paths: the checkout.
        folder: the stage's unfinished work, where what was found out is kept.
        spending: the stage's account.

    Raises:
        PreflightError: the policy's server, or that of the model that looks, is not there, or does not do what it is
            going to be asked.

    """
    check_looking(params, paths, spending.account(START_CHECK))
    if not is_served(source):
        return
    served, key = read_served_model(source), load_service_settings(paths.root).openai_key

    def charge(reply: Turn | Exception) -> None:
        spending.charge_turn(START_CHECK, served.name, reply)

    checked = asyncio.run(ServerCheck(served, params.serving, key, charge).check())
    write_json(folder / CHECKED, checked)


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
