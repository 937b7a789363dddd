"""Whether each service works, found out by one cheap call to each."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from components.config.paths import Paths
from components.config.schema import Params
from components.config.settings import ServiceSettings, load_service_settings, variable
from components.config.tools import PriceParams, ToolParams
from components.errors import PreflightError
from components.records.base import Record
from components.records.image_bank import ImageBank
from components.tools.clients import baidu_ocr, jina, upload
from components.tools.clients.errors import NotThere, Rejected, ServiceError, Unusable
from components.tools.clients.http import Requester
from components.tools.looking_check import look, sample_picture
from components.tools.metering import tallied
from components.tools.perception_replies import SERVICE as VISION
from components.tools.prices import total_price
from components.tools.services import Services
from components.tools.source_policy import SourcePolicy
from components.tools.transports import NetworkTransport, PortTransport

PAGE = "https://example.com/"
_SERPER, _UPLOAD = ("serper_key",), ("upload_bucket",)
_BAIDU = ("baidu_key", "baidu_secret")


class Probe(Record):
    """What one call has shown."""

    service: str
    state: str
    """`works`, `fails`, or `missing` where it has no key."""
    detail: str
    """What it answered, why it fails, or what to set."""
    seconds: float = 0.0
    cost_usd: float = 0.0
    """At list prices; what has failed counts as free."""


class Examination(Record):
    """What all calls have shown."""

    transport: str
    """`tools.transport`: who answers the agent."""
    prices_as_of: str
    probes: tuple[Probe, ...]

    @property
    def cost_usd(self) -> float:
        """What the examination has cost."""
        return sum(probe.cost_usd for probe in self.probes)

    @property
    def well(self) -> bool:
        """Whether everything that is configured works, and nothing that the agent needs is missing."""
        fatal = {"fails", "missing"} if self.transport in ("live", "record") else {"fails"}
        return not any(probe.state in fatal for probe in self.probes)


class Call(NamedTuple):
    """One call that could be made."""

    service: str
    needs: tuple[str, ...]
    """Fields of the settings."""
    make: Callable[[Services], Awaitable[str]]
    """Gives what it found."""


def examine(params: Params, paths: Paths, also: Sequence[Call] = ()) -> Examination:
    """Call every service that has its keys, once, and whatever else is to be tried out."""
    settings = load_service_settings(paths.root)
    return asyncio.run(_examine(params, paths, settings, also))


async def _examine(params: Params, paths: Paths, settings: ServiceSettings, also: Sequence[Call]) -> Examination:
    served = settings.world_url
    transport = PortTransport(served) if served else NetworkTransport()
    bank = ImageBank(paths.work / "doctor")
    tools, secrets = params.tools, list(settings.secrets)
    async with (
        Requester(transport, tools.request_timeout_s, secrets) as requester,
        Requester(NetworkTransport(), tools.perception_timeout_s, secrets) as models,
    ):
        services = Services(requester, tools, bank, SourcePolicy(), None if served else settings)
        asked = None if served else settings
        calls = (*_CALLS, *_looking(tools, settings, models), *also)
        probes = await asyncio.gather(*(_probe(call, services, asked, params.prices) for call in calls))
    return Examination(transport=params.tools.transport, prices_as_of=params.prices.as_of, probes=tuple(probes))


async def _probe(call: Call, services: Services, settings: ServiceSettings | None, prices: PriceParams) -> Probe:
    """Make a call if it has its keys; `settings` are None where none are asked for."""
    missing = [] if settings is None else [variable(name) for name in call.needs if getattr(settings, name) is None]
    if missing:
        # Half a key is a mistake, and no service that was left out.
        half = len(missing) < len(call.needs) and "serper_key" not in call.needs
        state = "fails" if half else "missing"
        return Probe(service=call.service, state=state, detail=f"set {', '.join(missing)}")
    started = time.perf_counter()
    with tallied(call.service) as tally:
        try:
            state, detail = "works", await call.make(services)
        except (ServiceError, NotThere, Unusable, PreflightError) as error:
            state, detail = "fails", _complaint(error, call)
    seconds = round(time.perf_counter() - started, 3)
    cost = total_price(tally.usage, prices)
    return Probe(service=call.service, state=state, detail=detail, seconds=seconds, cost_usd=cost)


def _complaint(error: Exception, call: Call) -> str:
    reason = error.reason if isinstance(error, ServiceError) else str(error)
    if isinstance(error, Rejected):
        return f"{reason}; look at {', '.join(map(variable, call.needs))} and at the account's credit"
    return reason


async def _search(services: Services) -> str:
    return f"{len(await services.serper.search('EviFlow', 1))} pages"


async def _images(services: Services) -> str:
    return f"{len(await services.serper.images('EviFlow', 1))} pictures"


async def _lens(services: Services) -> str:
    async with services.upload.shared(sample_picture()) as url:
        return f"{len(await services.serper.lens(url))} pictures"


async def _lay(services: Services) -> str:
    async with services.upload.shared(sample_picture()) as url:
        await services.pictures.download(url)
    return "stored and fetched"


async def _read(services: Services) -> str:
    try:
        return f"{len((await services.reader.read(PAGE)).content)} characters"
    except NotThere:
        return f"{PAGE} is not there"


async def _text(services: Services) -> str:
    return " / ".join(line.text for line in await services.ocr.read(sample_picture())) or "no text"


_CALLS = (
    Call("search", _SERPER, _search),
    Call("image search", _SERPER, _images),
    Call("reverse image search", (*_SERPER, *_UPLOAD), _lens),
    Call(upload.SERVICE, _UPLOAD, _lay),
    Call(jina.SERVICE, ("jina_key",), _read),
    Call(baidu_ocr.SERVICE, _BAIDU, _text),
)


def _looking(tools: ToolParams, settings: ServiceSettings, requester: Requester) -> tuple[Call, ...]:
    """The call to the model that looks at pictures, where one is to."""
    if tools.perception != "model":
        return ()

    async def ask(_: Services) -> str:
        return await look(tools, settings, requester)

    return (Call(VISION, ("vision_url",), ask),)
