"""Everything that tools need from outside, opened once and closed once."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, nullcontext

from pydantic import SecretStr

from components.config.paths import Paths
from components.config.schema import Params, ToolParams
from components.config.settings import ServiceSettings, load_service_settings
from components.records.case import Case
from components.records.image_bank import ImageBank
from components.tools.base import ToolFamily
from components.tools.clients import baidu_ocr, jina, serper
from components.tools.clients.baidu_ocr import BaiduOcrClient
from components.tools.clients.direct import PageReader, open_direct_reader
from components.tools.clients.http import Requester
from components.tools.clients.jina import JinaClient
from components.tools.clients.pictures import PictureClient
from components.tools.clients.serper import SerperClient
from components.tools.clients.upload import S3UploadClient, UploadClient, Uploader
from components.tools.connections import connected
from components.tools.perception import Perception
from components.tools.perception_choice import check_perception, chosen_perception
from components.tools.perception_pixels import PixelPerception
from components.tools.registry import Parts, build_tools
from components.tools.source_policy import SourcePolicy, policy_of
from components.tools.toolbox import Toolbox

_WORLD_KEY = "closed-world"
"""The closed world asks for a key as the vendors do, and takes any; a recording asks for none."""


class Services:
    """The clients of one process, and toolboxes that use them.

    Args:
        requester: sends every request; owned by whoever opened it.
        params: of the tools.
        bank: where pictures that tools return are kept.
        policy: what is blocked.
        settings: keys and addresses of the vendors; None for the closed world and for recordings.
        reader: reads pages; None for the vendor's.
        web: sends requests to addresses that pages and searches name; None for `requester`.
        perception: who looks; None for classical vision.

    """

    def __init__(
        self,
        requester: Requester,
        params: ToolParams,
        bank: ImageBank,
        policy: SourcePolicy,
        settings: ServiceSettings | None = None,
        reader: PageReader | None = None,
        web: Requester | None = None,
        perception: Perception | None = None,
    ) -> None:
        held = settings or ServiceSettings.model_construct()
        self.requester = requester
        self.serper = SerperClient(requester, _key(held.serper_key), held.serper_url or serper.BASE)
        self.reader = reader or JinaClient(requester, _key(held.jina_key), held.jina_url or jina.BASE)
        self.ocr = BaiduOcrClient(
            requester,
            _key(held.baidu_key),
            _key(held.baidu_secret),
            held.baidu_url or baidu_ocr.BASE,
            params.ocr_model,
        )
        self.pictures = PictureClient(web or requester)
        self.upload: Uploader = UploadClient(requester)
        if held.upload_bucket:
            self.upload = S3UploadClient(requester, held, params.upload_expires_s)
        self.policy = policy
        self.perception = perception or PixelPerception()
        self._params = params
        self._bank = bank

    def toolbox(
        self,
        case: Case,
        image: bytes,
        *,
        only: Collection[str] | None = None,
        without: Collection[ToolFamily] = (),
    ) -> Toolbox:
        """The tools of one investigation.

        Args:
            case: what is investigated.
            image: its picture, encoded.
            only: names of tools besides which there are no others; None for all.
            without: families that an ablation takes away.

        """
        parts = Parts(
            requester=self.requester,
            serper=self.serper,
            reader=self.reader,
            ocr=self.ocr,
            pictures=self.pictures,
            upload=self.upload,
            policy=self.policy,
            perception=self.perception,
        )
        built = build_tools(self._params, parts, without)
        tools = [tool for tool in built if only is None or tool.name in only]
        limits = {"call_s": self._params.tool_timeout_s, "episode_s": self._params.episode_timeout_s}
        return Toolbox(case, image, tools, self._bank, tool_set=self._params.tool_set, **limits)


def _key(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else _WORLD_KEY


@asynccontextmanager
async def open_services(
    params: Params, paths: Paths, bank: ImageBank, *, world: str | None = None, policy: SourcePolicy | None = None
) -> AsyncIterator[Services]:
    """Open the services; every connection is closed at the end.

    Args:
        params: all settings.
        paths: where the world lies, and the cache.
        bank: where pictures that tools return are kept.
        world: address of a served world, which answers in the place of the closed world in this process, or of the
            network; None for these.
        policy: what is blocked; None takes the policy of the checkout's benchmark.

    Raises:
        EviflowError: the world is not built, or there is no whole recording to replay.
        PreflightError: the vendors are to answer, and a key is missing; or a model is to look, and it is not named.

    """
    timeout_s = params.tools.request_timeout_s
    own = load_service_settings(paths.root)
    check_perception(params.tools, own)
    with connected(params, paths, world) as (transport, web, settings, secrets, models):
        looking = Requester(models, params.tools.perception_timeout_s, secrets) if models else nullcontext()
        reading = open_direct_reader(params.tools, web) if params.tools.reader == "direct" else nullcontext()
        async with (
            Requester(transport, timeout_s, secrets) as requester,
            Requester(web, timeout_s, secrets) as web_requester,
            reading as reader,
            looking as model_requester,
        ):
            blocked = policy or policy_of(paths)
            perception = chosen_perception(params.tools, own, model_requester)
            yield Services(requester, params.tools, bank, blocked, settings, reader, web_requester, perception)
