"""What a run ends with: the key numbers, where to look, what to try next."""

import json
import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from components.commands.finished import RunState
from components.config.paths import Paths
from components.config.settings import load_settings

NUMBERS = ("balanced_accuracy", "macro_f1", "sesr")


def show_summary(state: RunState, paths: Paths, *, repeated: bool = False) -> None:
    """Print it all; `repeated` when there was nothing to do."""
    title = "nothing has changed, so nothing was done again" if repeated else f"done in {_minutes(state.seconds)}"
    console = Console(highlight=False, soft_wrap=True)
    console.print(Panel(_numbers(paths), title=title, title_align="left", expand=False))
    # Outside the panel, so that addresses and commands stay in one piece however narrow the terminal is.
    for line in (*_places(state, paths), "", *_next(paths)):
        console.print(line, markup=False)


def _numbers(paths: Paths) -> Table:
    """The evaluated systems, best last."""
    systems = json.loads((paths.evaluation / "metrics.json").read_text("utf-8"))["systems"]
    table = Table("system", *(name.replace("_", " ") for name in NUMBERS), box=None, pad_edge=False)
    for name, system in systems.items():
        table.add_row(name, *(f"{system['metrics'][key]:.1%}" for key in NUMBERS))
    return table


def _places(state: RunState, paths: Paths) -> list[str]:
    server = load_settings().mlflow_tracking_uri
    ui = server or "`make ui`, or `mlflow ui --backend-store-uri sqlite:///mlflow.db`"
    return [
        f"report  {paths.evaluation / 'report.html'}",
        f"data    {paths.data_card}",
        f"MLflow  {ui}",
        f"        {state.run_url}",
    ]


def _next(paths: Paths) -> list[str]:
    command = _command(paths.root)
    case = _first_case(paths)
    return [
        "try next",
        f"  {command} investigate {case}",
        f"  {command} data show {case} --picture {case}.png",
        "  change a value in params.yaml, `make demo` again, and compare the two runs in MLflow",
    ]


def _first_case(paths: Paths) -> str:
    with (paths.benchmark / "test.jsonl").open(encoding="utf-8") as file:
        return str(json.loads(file.readline())["case_id"])


def _command(root: Path) -> str:
    """How to call `eviflow` from the checkout's root in this shell."""
    own = Path(sys.executable).parent / "eviflow"
    if shutil.which("eviflow") == str(own):
        return "eviflow"
    return str(own.relative_to(root)) if own.is_relative_to(root) else str(own)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60} min {int(seconds) % 60} s" if seconds >= 60 else f"{seconds:.0f} s"
