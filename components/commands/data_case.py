"""`eviflow data show CASE`: what is public about a case, and its picture as a file."""

from pathlib import Path
from typing import Annotated

import typer

from components.commands.session import Session
from components.errors import UsageError

EXAMPLE = "Example:\n\n    eviflow data show test-00000 --picture test-00000.png"


def show(
    context: typer.Context,
    case_id: Annotated[str, typer.Argument(metavar="CASE", help="The id of a case.")],
    picture: Annotated[Path | None, typer.Option(help="Write the picture to this file.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Public cases, such as data/imported/NAME; data/evilens_f when not given.")
    ] = None,
) -> None:
    """Show what is public about a case; its label and claim are not."""
    from components.records.image_bank import ImageBank
    from components.rollout.cases import find_case
    from components.storage.atomic import write_bytes

    session: Session = context.obj
    place = folder or session.paths.benchmark
    found = find_case(place, case_id)
    if found is None:
        raise UsageError(f"{place} has no case {case_id}; its ids are in train.jsonl and test.jsonl there")
    if picture is not None and picture.exists():
        raise UsageError(f"{picture} is there already; name a file that is not")
    split, case = found
    bank = ImageBank(place)
    image, data = bank.open(case.image_sha256), bank.read(case.image_sha256)
    typer.echo(f"case     {case.case_id}, {split.value}")
    typer.echo(f"picture  {case.image_path}, {image.width} x {image.height} pixels, {len(data)} bytes")
    if picture is not None:
        write_bytes(picture, data)
        typer.echo(f"written  {picture}")
