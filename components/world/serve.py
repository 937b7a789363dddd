"""The closed world on a port: `eviflow world serve`."""

from pathlib import Path

from components.config.paths import Paths
from components.config.schema import Params
from components.world.app import WorldApp, load_web


def world_app(params: Params, web: Path, cache: Path) -> WorldApp:
    """The application over the web in folder `web`; raises EviflowError when the world is not built."""
    from components.tools.ocr import OcrEngine

    return WorldApp(load_web(web, cache), OcrEngine(params.tools, cache).read)


def serve(paths: Paths, params: Params, host: str, port: int) -> None:
    """Serve until interrupted.

    Raises:
        EviflowError: the world is not built.

    """
    import uvicorn

    from components.world.vendors.doors import addresses

    for name, address in addresses(f"http://{host}:{port}").items():
        print(f"{name:8} {address}", flush=True)
    uvicorn.run(world_app(params, paths.web, paths.cache), host=host, port=port, log_level="info")
