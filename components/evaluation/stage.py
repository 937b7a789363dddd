"""Stage `evaluate`: the test cases investigated by each system, judged by rules, scored, and put side by side.

eviflow stage evaluate
"""

from pathlib import Path

from components.config.paths import Paths
from components.config.schema import Params
from components.errors import EviflowError
from components.evaluation.baselines import baseline_metrics
from components.evaluation.gold import load_gold
from components.evaluation.judgment import Judgment
from components.evaluation.report import write_report
from components.evaluation.rules_judge import judge
from components.evaluation.summary import Bounds, Difference, MetricsFile, compare, summarise
from components.evaluation.systems import PolicyMaker, System, episodes_of, local_policy, spent_of, systems_of
from components.records.base import Record
from components.records.case import Gold, Split
from components.records.episode import Episode
from components.records.image_bank import ImageBank
from components.records.usage import Spent
from components.rollout.cases import load_cases
from components.rollout.costs import CostTable, cost_table
from components.storage.atomic import write_json, write_jsonl
from components.storage.identity import digest_file

JUDGE = "rules"
CANDIDATE = "sft"


class SystemResult(Record):
    """One evaluated system: its numbers, and where its episodes and their judgments lie."""

    title: str
    metrics: dict[str, float]
    intervals: dict[str, Bounds]
    episodes_path: Path
    judgements_path: Path


class EvaluationResult(Record):
    """What the stage made."""

    systems: dict[str, SystemResult]
    differences: dict[str, Difference]
    """By name, `sft-untrained_agent`."""
    baselines: dict[str, dict[str, float]]
    metrics_path: Path
    report_path: Path
    costs: dict[str, CostTable]
    """By system; the content of `costs.json` beside the report."""


def evaluate(params: Params, paths: Paths, make_policy: PolicyMaker = local_policy) -> EvaluationResult:
    """Evaluate every system and write `reports/evaluation`.

    A system whose policy, data, settings and code are unchanged is not run again; a killed run goes on where it
    stopped. Judging and scoring take seconds and are always done anew.

    Raises:
        BudgetReached: `budget` ended it; what is finished is kept, and a larger budget goes on.
        PreflightError: the server of `evaluation.served` is not there, or does not do what it is going to be asked.
        EviflowError: a policy, the benchmark or its private half is not there.

    """
    gold = load_gold(paths, Split.TEST)
    _check_gold(paths, gold)
    episodes, costs = _investigate(params, paths, make_policy)
    judgments = {name: _judge(found, gold) for name, found in episodes.items()}
    numbers = MetricsFile(
        judge=JUDGE,
        cases=len(gold),
        suite_sha256=digest_file(paths.benchmark / "test.jsonl"),
        confidence=params.evaluation.confidence,
        systems={name: summarise(found, judgments[name], gold, params.evaluation) for name, found in episodes.items()},
        differences={
            f"{CANDIDATE}-{name}": compare(judgments[CANDIDATE], judgments[name], params.evaluation)
            for name in sorted(judgments.keys() - {CANDIDATE})
        },
        baselines=_baselines(paths, gold),
    )
    systems = systems_of(params)
    results = {system.name: _write(system, judgments[system.name], numbers, paths) for system in systems}
    bank = ImageBank(paths.evaluation, also=[paths.benchmark, paths.web])
    titles = {system.name: system.title for system in systems}
    report = paths.evaluation / "report.html"
    write_report(report, numbers, titles, CANDIDATE, episodes[CANDIDATE], judgments[CANDIDATE], gold, bank, costs)
    write_json(paths.evaluation / "costs.json", {name: item.model_dump(mode="json") for name, item in costs.items()})
    return EvaluationResult(
        systems=results,
        differences=numbers.differences,
        baselines=numbers.baselines,
        metrics_path=write_json(paths.evaluation / "metrics.json", numbers),
        report_path=report,
        costs=costs,
    )


def _investigate(
    params: Params, paths: Paths, make_policy: PolicyMaker
) -> tuple[dict[str, list[Episode]], dict[str, CostTable]]:
    """Every system's episodes and what they cost; all systems share one budget.

    One on a server comes first, so that a server that cannot be used is known before anything is run.
    """
    systems = systems_of(params)
    episodes, costs, spent = {}, {}, Spent()
    for system in sorted(systems, key=lambda system: not system.served):
        found = episodes_of(system, params, paths, make_policy, before=spent)
        own = spent_of(system, paths)
        episodes[system.name], costs[system.name] = found, cost_table(found, own, params.prices)
        spent += own
    return {one.name: episodes[one.name] for one in systems}, {one.name: costs[one.name] for one in systems}


def _check_gold(paths: Paths, gold: dict[str, Gold]) -> None:
    unknown = [case.case_id for case in load_cases(paths, Split.TEST) if case.case_id not in gold]
    if unknown:
        raise EviflowError(f"test case {unknown[0]} has no gold record; run `eviflow stage panel`")


def _judge(episodes: list[Episode], gold: dict[str, Gold]) -> list[Judgment]:
    """One judgment for each case of the suite, whether it has an episode or not."""
    by_case = {episode.case.case_id: episode for episode in episodes}
    return [judge(by_case.get(case_id), gold[case_id]) for case_id in sorted(gold)]


def _baselines(paths: Paths, gold: dict[str, Gold]) -> dict[str, dict[str, float]]:
    train, test = load_cases(paths, Split.TRAIN), load_cases(paths, Split.TEST)
    return baseline_metrics(train, load_gold(paths, Split.TRAIN), test, gold, ImageBank(paths.benchmark))


def _write(system: System, judgments: list[Judgment], numbers: MetricsFile, paths: Paths) -> SystemResult:
    path = write_jsonl(paths.evaluation / f"{system.name}.judgements.jsonl", judgments)
    summary = numbers.systems[system.name]
    return SystemResult(
        title=system.title,
        metrics=summary.metrics,
        intervals=summary.intervals,
        episodes_path=paths.evaluation / f"{system.name}.parquet",
        judgements_path=path,
    )
