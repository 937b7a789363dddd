"""The tools on the curation agent's desk, and a note of what was done with them."""

import io
import json
from typing import Any

from PIL import Image

from components.curation.curator.proposal import Trail
from components.records.case import Case
from components.records.episode import FailureClass, Observation, ToolCall
from components.records.image_bank import asset_path, sha256_hex
from components.tools.base import ToolFamily
from components.tools.services import Services
from components.tools.toolbox import Refused


class Desk:
    """An investigator's tools, with an investigator's limits, for one inquiry.

    Args:
        services: opens the tools.
        name: of the inquiry.
        actions: calls that may be executed.
        image: the picture that the inquiry is about; without one, tools that look at a picture are left out.

    """

    def __init__(self, services: Services, name: str, actions: int, image: bytes | None = None) -> None:
        without = () if image else (ToolFamily.VISUAL,)
        image = image or _blank()
        digest = sha256_hex(image)
        case = Case(case_id=name, image_path=asset_path(digest), image_sha256=digest)
        self._toolbox = services.toolbox(case, image, without=without)
        self._actions = actions
        self._queries: list[str] = []
        self._pages: list[str] = []
        self._calls = 0
        self.outage = False
        """Whether a service gave no answer at some time."""

    @property
    def trail(self) -> Trail:
        """What was done so far."""
        return Trail(queries=tuple(self._queries), pages=tuple(self._pages), tool_calls=self._calls)

    def opened(self, url: str) -> bool:
        """Whether a page was opened already."""
        return url in self._pages

    async def use(self, tool: str, **arguments: str) -> Observation | None:
        """What a tool found; None for a call that was refused or found nothing."""
        call = ToolCall(name=tool, arguments_json=json.dumps(arguments))
        checked = self._toolbox.check(call, self._actions - self._calls)
        if isinstance(checked, Refused):
            return None
        self._note(arguments)
        observation = await self._toolbox.execute(checked, f"o{self._calls}")
        self.outage = self.outage or observation.failure is FailureClass.INFRASTRUCTURE
        return observation if observation.succeeded else None

    def _note(self, arguments: dict[str, str]) -> None:
        self._calls += 1
        if "query" in arguments:
            self._queries.append(arguments["query"])
        if "url" in arguments:
            self._pages.append(arguments["url"])


def results_of(observation: Observation | None) -> list[dict[str, Any]]:
    """The rows of a search, typed; none for a search that found nothing."""
    return list(json.loads(observation.payload_json)["results"]) if observation else []


def _blank() -> bytes:
    """What stands in a case's place as long as nobody has a picture."""
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "white").save(buffer, format="PNG")
    return buffer.getvalue()
