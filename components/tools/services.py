"""Everything that tools need from outside, opened once and closed once."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

import httpx

from components.config.paths import Paths
from components.config.schema import Params, ToolParams
from components.records.case import Case
from components.records.image_bank import ImageBank
from components.tools.base import ToolFamily
from components.tools.clients.baidu_ocr import BaiduOcrClient
from components.tools.clients.direct import PageReader, open_direct_reader
from components.tools.clients.http import Requester
from components.tools.clients.jina import JinaClient
from components.tools.clients.pictures import PictureClient
from components.tools.clients.serper import SerperClient
from components.tools.clients.upload import UploadClient
from components.tools.registry import build_tools
from components.tools.source_policy import SourcePolicy, policy_of
from components.tools.toolbox import Toolbox
from components.tools.transports import PortTransport

_WORLD_KEY = "closed-world"
"""The closed world asks for a key as the vendors do, and takes any."""


class Services:
    """The clients of one process, and toolboxes that use them.

    Args:
        requester: sends every request; owned by whoever opened it.
        params: of the tools.
        bank: where pictures that tools return are kept.
        policy: what is blocked.
        reader: reads pages; None for the vendor's.

    """

    def __init__(
        self,
        requester: Requester,
        params: ToolParams,
        bank: ImageBank,
        policy: SourcePolicy,
        reader: PageReader | None = None,
    ) -> None:
        self.requester = requester
        self.serper = SerperClient(requester, _WORLD_KEY)
        self.reader = reader or JinaClient(requester, _WORLD_KEY)
        self.ocr = BaiduOcrClient(requester, _WORLD_KEY, _WORLD_KEY)
        self.pictures = PictureClient(requester)
        self.upload = UploadClient(requester)
        self.policy = policy
        self._params = params
        self._bank = bank

    def toolbox(self, case: Case, image: bytes, *, without: Collection[ToolFamily] = ()) -> Toolbox:
        """The tools of one investigation.

        Args:
            case: what is investigated.
            image: its picture, encoded.
            without: families that an ablation takes away.

        """
        tools = build_tools(
            self._params,
            serper=self.serper,
            reader=self.reader,
            ocr=self.ocr,
            pictures=self.pictures,
            upload=self.upload,
            policy=self.policy,
            without=without,
        )
        return Toolbox(case, image, tools, self._bank)


@asynccontextmanager
async def open_services(
    params: Params, paths: Paths, bank: ImageBank, *, world: str | None = None, policy: SourcePolicy | None = None
) -> AsyncIterator[Services]:
    """Open the services; every connection is closed at the end.

    Args:
        params: all settings.
        paths: where the world lies, and the cache.
        bank: where pictures that tools return are kept.
        world: address of a served world; None answers in this process.
        policy: what is blocked; None takes the policy of the checkout's benchmark.

    Raises:
        EviflowError: the world is not built.

    """
    transport = PortTransport(world) if world else world_transport(params, paths.web, paths.cache)
    direct = open_direct_reader(params.tools, transport) if params.tools.reader == "direct" else nullcontext()
    async with Requester(transport, params.tools.request_timeout_s) as requester, direct as reader:
        yield Services(requester, params.tools, bank, policy or policy_of(paths), reader)


def world_transport(params: Params, web: Path, cache: Path) -> httpx.AsyncBaseTransport:
    """The closed world as an application in this process."""
    from components.world.serve import world_app

    return httpx.ASGITransport(app=world_app(params, web, cache))
