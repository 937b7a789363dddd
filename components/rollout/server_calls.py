"""The servers that stages are to ask, for `eviflow doctor`."""

from components.config.paths import Paths
from components.config.schema import Params
from components.config.served import ServedModel, is_served, read_served_model
from components.config.settings import load_service_settings
from components.policies.served_check import ServerCheck
from components.tools.clients.completions import SERVICE
from components.tools.doctor import Call
from components.tools.services import Services


def server_calls(params: Params, paths: Paths) -> list[Call]:
    """The start-up check of each model on a server that a stage is to ask."""
    wanted = dict.fromkeys((params.episodes.policy, params.evaluation.served or ""))
    key = load_service_settings(paths.root).openai_key

    def call(served: ServedModel) -> Call:
        async def check(_: Services) -> str:
            return (await ServerCheck(served, params.serving, key).check()).sentence

        return Call(SERVICE, (), check)

    return [call(read_served_model(name)) for name in wanted if is_served(name)]
