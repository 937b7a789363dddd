"""`eviflow world serve`: the closed world on a port, in the vendors' wire formats."""

from typing import Annotated

import typer

from components.commands.session import Session

app = typer.Typer(help="The closed world that stands in for the web.", no_args_is_help=True)


@app.command("serve", epilog="Example:\n\n    eviflow world serve --port 8800")
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
