"""Whether each service works, found out by one cheap call to each."""

import asyncio
import io
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from PIL import Image, ImageDraw

from components.config.paths import Paths
from components.config.schema import Params
from components.config.settings import ServiceSettings, load_service_settings, variable
from components.config.tools import PriceParams
from components.records.base import Record
from components.records.image_bank import ImageBank
from components.tools.clients import baidu_ocr, jina, upload
from components.tools.clients.errors import NotThere, Rejected, ServiceError, Unusable
from components.tools.clients.http import Requester
from components.tools.services import Services
from components.tools.source_policy import SourcePolicy
from components.tools.transports import NetworkTransport, PortTransport

PAGE = "https://example.com/"
_LENS_CREDITS = 3
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


class _Call(NamedTuple):
    """One call that could be made."""

    service: str
    needs: tuple[str, ...]
    """Fields of the settings."""
    make: Callable[[Services], Awaitable[tuple[str, float]]]
    """Gives what it found, and what it cost."""


def examine(params: Params, paths: Paths) -> Examination:
    """Call every service that has its keys, once."""
    settings = load_service_settings(paths.root)
    return asyncio.run(_examine(params, paths, settings))


async def _examine(params: Params, paths: Paths, settings: ServiceSettings) -> Examination:
    served = settings.world_url
    transport = PortTransport(served) if served else NetworkTransport()
    bank = ImageBank(paths.work / "doctor")
    async with Requester(transport, params.tools.request_timeout_s, list(settings.secrets)) as requester:
        services = Services(requester, params.tools, bank, SourcePolicy(), None if served else settings)
        calls = _calls(params.prices, params.tools.ocr_model)
        probes = await asyncio.gather(*(_probe(call, services, None if served else settings) for call in calls))
    return Examination(transport=params.tools.transport, prices_as_of=params.prices.as_of, probes=tuple(probes))


async def _probe(call: _Call, services: Services, settings: ServiceSettings | None) -> Probe:
    """Make a call if it has its keys; `settings` are None where none are asked for."""
    missing = [] if settings is None else [variable(name) for name in call.needs if getattr(settings, name) is None]
    if missing:
        # Half a key is a mistake, and no service that was left out.
        half = len(missing) < len(call.needs) and "serper_key" not in call.needs
        state = "fails" if half else "missing"
        return Probe(service=call.service, state=state, detail=f"set {', '.join(missing)}")
    started = time.perf_counter()
    try:
        detail, cost = await call.make(services)
        state = "works"
    except (ServiceError, NotThere, Unusable) as error:
        state, detail, cost = "fails", _complaint(error, call), 0.0
    seconds = round(time.perf_counter() - started, 3)
    return Probe(service=call.service, state=state, detail=detail, seconds=seconds, cost_usd=cost)


def _complaint(error: Exception, call: _Call) -> str:
    reason = error.reason if isinstance(error, ServiceError) else str(error)
    if isinstance(error, Rejected):
        return f"{reason}; look at {', '.join(map(variable, call.needs))} and at the account's credit"
    return reason


def _calls(prices: PriceParams, ocr_model: str) -> tuple[_Call, ...]:
    credit = prices.serper_credit_usd
    reading = prices.baidu_general_usd if ocr_model == "general" else prices.baidu_accurate_usd

    async def search(services: Services) -> tuple[str, float]:
        return f"{len(await services.serper.search('EviFlow', 1))} pages", credit

    async def images(services: Services) -> tuple[str, float]:
        return f"{len(await services.serper.images('EviFlow', 1))} pictures", credit

    async def lens(services: Services) -> tuple[str, float]:
        async with services.upload.shared(_picture()) as url:
            found = await services.serper.lens(url)
        return f"{len(found)} pictures", _LENS_CREDITS * credit + prices.upload_usd

    async def lay(services: Services) -> tuple[str, float]:
        async with services.upload.shared(_picture()) as url:
            await services.pictures.download(url)
        return "stored and fetched", prices.upload_usd

    async def read(services: Services) -> tuple[str, float]:
        try:
            page = await services.reader.read(PAGE)
        except NotThere:
            return f"{PAGE} is not there", 0.0
        return f"{len(page.content)} characters", page.tokens * prices.jina_million_tokens_usd / 1e6

    async def text(services: Services) -> tuple[str, float]:
        return " / ".join(line.text for line in await services.ocr.read(_picture())) or "no text", reading

    return (
        _Call("search", _SERPER, search),
        _Call("image search", _SERPER, images),
        _Call("reverse image search", (*_SERPER, *_UPLOAD), lens),
        _Call(upload.SERVICE, _UPLOAD, lay),
        _Call(jina.SERVICE, ("jina_key",), read),
        _Call(baidu_ocr.SERVICE, _BAIDU, text),
    )


def _picture() -> bytes:
    """A small picture with a word on it."""
    image = Image.new("RGB", (160, 60), "white")
    ImageDraw.Draw(image).text((20, 15), "EviFlow", fill="black", font_size=28)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()
