"""`eviflow score`: anybody's predictions against anybody's gold."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Score a table of predictions against a table of gold.", no_args_is_help=True)

EXAMPLE = """Example:

    eviflow score factuality predictions.csv gold.jsonl"""


@app.command("factuality", epilog=EXAMPLE)
def factuality(
    predictions: Annotated[Path, typer.Argument(help="CSV, JSONL or Parquet with case_id and verdict.")],
    gold: Annotated[Path, typer.Argument(help="The same with the true verdicts.")],
) -> None:
    """Print balanced accuracy, macro F1 and more as JSON, in percent; SESR where every prediction has a `bucket`."""
    from components.evaluation.scoring import score_factuality

    typer.echo(score_factuality(predictions, gold).model_dump_json(indent=2, exclude_none=True))
