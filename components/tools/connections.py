"""Which transport answers, as `tools.transport` says, and with whose keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import httpx

from components.config.paths import Paths
from components.config.schema import Params
from components.config.settings import ServiceSettings, load_service_settings
from components.errors import PreflightError
from components.tools.clients.guard import GuardedTransport
from components.tools.clock import ClockTransport
from components.tools.recording import recorded, replayed
from components.tools.transports import NetworkTransport, PortTransport, RecordTransport, ReplayTransport, Sent


class Connection(NamedTuple):
    """Who answers."""

    transport: httpx.AsyncBaseTransport
    """For the services."""
    web: httpx.AsyncBaseTransport
    """For addresses that a page or a search has named; where these are the network's, there is a guard before it."""
    settings: ServiceSettings | None
    """Of the vendors; None where none is asked."""
    secrets: list[str]
    """Keys that are not to be shown or kept; grows with the tokens that they are exchanged for."""
    models: httpx.AsyncBaseTransport | None = None
    """For a model that looks; None where none does. The closed world has none: it is asked over the network."""


@contextmanager
def connected(params: Params, paths: Paths, world: str | None = None) -> Iterator[Connection]:
    """The connection that the settings name; a recording is sealed when the block ends well.

    Raises:
        EviflowError: the world is not built, or there is no whole recording to replay.
        PreflightError: the vendors are to answer, and a key is missing.

    """
    tools = params.tools
    folder = paths.root / tools.recording
    looks = tools.perception == "model"
    if tools.transport == "replay":
        with replayed(folder) as recording:
            replay = ReplayTransport(recording)
            yield _same(replay)._replace(models=replay if looks else None)
        return
    link = _world(params, paths, world) if tools.transport == "world" else _vendors(paths, world)
    models = Sent(NetworkTransport(), billed=True) if looks else None
    if tools.transport in ("world", "live"):
        yield link._replace(models=models)
        return
    with recorded(folder) as recording:
        yield link._replace(
            transport=RecordTransport(link.transport, recording, link.secrets),
            web=RecordTransport(link.web, recording, link.secrets),
            models=RecordTransport(models, recording, link.secrets) if models else None,
        )


def _same(transport: httpx.AsyncBaseTransport) -> Connection:
    """One that answers for everything, without keys."""
    return Connection(transport, transport, None, [])


def _world(params: Params, paths: Paths, world: str | None) -> Connection:
    inner = PortTransport(world) if world else world_transport(params, paths)
    return _same(Sent(inner, billed=False))


def world_transport(params: Params, paths: Paths) -> httpx.AsyncBaseTransport:
    """The closed world as an application in this process; raises EviflowError when it is not built."""
    from components.world.serve import world_app

    return httpx.ASGITransport(app=world_app(params, paths.web, paths.cache))


def _vendors(paths: Paths, world: str | None) -> Connection:
    settings = load_service_settings(paths.root)
    address = world or settings.world_url
    if address:
        return _same(Sent(PortTransport(address), billed=False))
    if settings.missing:
        raise PreflightError(
            f"{', '.join(settings.missing)} must be set, in the environment or in {paths.root / '.env'}; "
            "`eviflow doctor` tells what works"
        )
    network, web = Sent(NetworkTransport(), billed=True), Sent(GuardedTransport(), billed=True)
    return Connection(ClockTransport(network), web, settings, list(settings.secrets))
