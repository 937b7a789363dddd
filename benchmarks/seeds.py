"""How far the scores depend on chance: student, drills and fine-tuning repeated with other seeds, on the same data.

Run it after `make demo`, on a checkout without changes of your own. Each repetition works in a clone under
`.eviflow/seeds`, takes seven to ten minutes on two cores, and is not repeated where it is finished for this commit.

.venv/bin/python benchmarks/seeds.py 1 2
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import fmean, stdev

import yaml

from components.storage.identity import git_state

ROOT = Path(__file__).parents[1]
SEEDED = ("policy", "drills", "sft")
STAGES = ("policy", "sft-rows", "sft", "evaluate")
SHOWN = ("balanced_accuracy", "macro_f1", "sesr", "recall_supported", "recall_refuted", "invalid")


def repeat(offset: int, commit: str) -> Path:
    """The metrics of a training whose seeds are all raised by `offset`."""
    clone = ROOT / f".eviflow/seeds/{commit[:12]}/{offset}"
    metrics = clone / "reports/evaluation/metrics.json"
    if metrics.exists():
        return metrics
    shutil.rmtree(clone, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    shutil.copytree(ROOT / "data", clone / "data")
    shutil.copyfile(ROOT / "dvc.lock", clone / "dvc.lock")
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    for section in SEEDED:
        params[section]["seed"] += offset
    (clone / "params.yaml").write_text(yaml.safe_dump(params))
    for stage in STAGES:
        print(f"seed {offset}: {stage}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "components.cli", "stage", stage], cwd=clone, check=True)
    return metrics


def show(rows: dict[str, dict[str, float]]) -> None:
    print("| seed | " + " | ".join(name.replace("_", " ") for name in SHOWN) + " |")
    print("|---" * (len(SHOWN) + 1) + "|")
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(_number(key, row[key]) for key in SHOWN) + " |")


def _number(key: str, value: float) -> str:
    return f"{value:.1f}" if key == "invalid" else f"{100 * value:.1f}"


def main() -> None:
    measured = {"+0": ROOT / "reports/evaluation/metrics.json"}
    state = git_state(ROOT)
    if state.dirty:
        sys.exit("tracked files differ from the commit that would be repeated; commit your changes, or undo them")
    measured |= {f"+{offset}": repeat(offset, state.sha) for offset in map(int, sys.argv[1:])}
    rows = {name: json.loads(path.read_text())["systems"]["sft"]["metrics"] for name, path in measured.items()}
    columns = {key: [row[key] for row in rows.values()] for key in SHOWN}
    rows["mean"] = {key: fmean(values) for key, values in columns.items()}
    if len(measured) > 1:
        rows["standard deviation"] = {key: stdev(values) for key, values in columns.items()}
    show(rows)


if __name__ == "__main__":
    main()
