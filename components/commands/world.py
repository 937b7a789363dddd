"""`eviflow world serve`: the closed world on a port, in the vendors' wire formats."""

from typing import Annotated

import typer

from components.commands.session import Session

app = typer.Typer(help="The closed world that stands in for the web.", no_args_is_help=True)


EXAMPLE = """Example:

    eviflow world serve --port 8800

Any agent then has the world for the web when it takes these for the vendors' addresses, with any key:

    SERPER_BASE_URL=http://127.0.0.1:8800/serper  (/search, /images, /lens)

    JINA_BASE_URL=http://127.0.0.1:8800/jina  (/https://...)

    BAIDU_BASE_URL=http://127.0.0.1:8800/baidu  (/oauth/2.0/token, /rest/2.0/ocr/v1/general)

Pictures for /lens go to http://127.0.0.1:8800/uploads/<SHA-256>.png; pages and pictures stand below /web/https://...

EviFlow's own agent is sent there by EVIFLOW_WORLD_URL=http://127.0.0.1:8800 and `tools.transport: live`."""


@app.command("serve", epilog=EXAMPLE)
def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8800,
) -> None:
    """Answer search, pictures, lens, page reading and OCR until interrupted."""
    from components.config.load import load_params
    from components.world.serve import serve as run

    session: Session = context.obj
    paths = session.paths
    run(paths, load_params(paths.params), host, port)
