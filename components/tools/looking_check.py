"""Whether the model that looks for the tools does so, found out by one question before anything is built on it."""

import asyncio
import io

from PIL import Image, ImageDraw

from components.config.paths import Paths
from components.config.schema import Params
from components.config.settings import ServiceSettings, load_service_settings
from components.config.tools import ToolParams
from components.errors import PreflightError
from components.tools import perception_prompts as prompts
from components.tools.clients.chat import picture_part
from components.tools.clients.errors import ServiceError
from components.tools.clients.http import Requester
from components.tools.metering import Account, charged_to, tallied
from components.tools.perception_choice import check_perception, vision_chat
from components.tools.perception_found import Count
from components.tools.perception_replies import SERVICE, read_reply, schema_for
from components.tools.transports import NetworkTransport, Sent


def check_looking(params: Params, paths: Paths, account: Account) -> None:
    """Make sure that a model which is to look is there; nothing is asked where none is, or where a recording answers.

    Args:
        params: all settings.
        paths: the checkout.
        account: what the question costs is charged to.

    Raises:
        PreflightError: the model is not named, or does not look.

    """
    if params.tools.perception != "model" or params.tools.transport == "replay":
        return
    settings = load_service_settings(paths.root)
    check_perception(params.tools, settings)
    asyncio.run(_check(params.tools, settings, account))


async def _check(tools: ToolParams, settings: ServiceSettings, account: Account) -> None:
    network = Sent(NetworkTransport(), billed=True)
    async with Requester(network, tools.perception_timeout_s, list(settings.secrets)) as requester:
        try:
            with charged_to(account), tallied(SERVICE):
                await look(tools, settings, requester)
        except ServiceError as error:
            raise PreflightError(
                f"{tools.perception_model} at {settings.vision_url} cannot look: {error.reason}; see whether its "
                "server runs, or take `tools.perception: pixels`"
            ) from error


async def look(tools: ToolParams, settings: ServiceSettings, requester: Requester) -> str:
    """What the model says of a picture with one word on it; raises ServiceError where it says nothing usable."""
    part = {"type": "text", "text": prompts.COUNT.format(target="word")}
    messages = [{"role": "user", "content": [picture_part(sample_picture()), part]}]
    reply = await vision_chat(tools, settings, requester).complete(
        messages, max_tokens=500, temperature=0.0, schema=schema_for(Count), extra=tools.perception_extra
    )
    return f"{tools.perception_model} counts {read_reply(Count, reply, yxyx=False).count} words in a picture of one"


def sample_picture() -> bytes:
    """A small picture with a word on it."""
    image = Image.new("RGB", (160, 60), "white")
    ImageDraw.Draw(image).text((20, 15), "EviFlow", fill="black", font_size=28)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()
