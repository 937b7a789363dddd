"""Who looks, as `tools.perception` says."""

from components.config.settings import ServiceSettings, variable
from components.config.tools import ToolParams
from components.errors import PreflightError
from components.tools.clients.chat import ChatClient, tool_tariff
from components.tools.clients.http import Requester
from components.tools.perception import Perception
from components.tools.perception_model import ModelPerception
from components.tools.perception_pixels import PixelPerception
from components.tools.perception_replies import SERVICE, ChatModel

KNOWN_AS = "https://vision.example/v1"
"""What a recording knows the model's server by, wherever it stands; the model's name is in every request."""


def check_perception(tools: ToolParams, settings: ServiceSettings) -> None:
    """Raise PreflightError when a model is to look, and nothing says which, or where unless a recording answers."""
    address = variable("vision_url")
    wanted = {"tools.perception_model in params.yaml": tools.perception_model}
    if tools.transport != "replay":
        wanted = {f"{address} in the environment or in .env": settings.vision_url or "", **wanted}
    missing = [what for what, value in wanted.items() if not value]
    if tools.perception == "model" and missing:
        raise PreflightError(f"{' and '.join(missing)} must be set, or take `tools.perception: pixels`")


def chosen_perception(tools: ToolParams, settings: ServiceSettings, requester: Requester | None) -> Perception:
    """Who looks, of settings that were checked; `requester` reaches the model's server, and is None without one."""
    if requester is None:
        return PixelPerception()
    # Gemini writes boxes with y first.
    yxyx = "gemini" in tools.perception_model.casefold()
    chat = vision_chat(tools, settings, requester)
    extra = tools.perception_extra
    return ModelPerception(chat, yxyx=yxyx, one_picture=tools.perception_one_picture, extra=extra)


def vision_chat(tools: ToolParams, settings: ServiceSettings, requester: Requester) -> ChatModel:
    """The client of the vision-language model, at `settings.vision_url` with `settings.vision_key`."""
    return ChatClient(
        requester,
        settings.vision_url or KNOWN_AS,
        tools.perception_model,
        settings.vision_key,
        tariff=tool_tariff(tools.perception_model),
        service=SERVICE,
        known_as=KNOWN_AS,
    )
