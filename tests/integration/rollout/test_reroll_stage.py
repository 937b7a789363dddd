"""Re-rolls of a real teacher in the closed world, over episodes and private records that were tampered with."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from components.config.paths import Paths
from components.config.schema import BudgetParams, Params, RerollParams
from components.errors import BudgetReached, EviflowError
from components.evaluation.admission import Decision
from components.evaluation.reroll import UNRESOLVED, Kind, Unresolved, reroll_cases
from components.evaluation.review import read_decisions, review_episodes
from components.records.admitted import admitted_episodes, teacher_bank
from components.records.case import Gold, Split, Verdict
from components.records.episode import Episode, Termination
from components.records.shards import read_episodes, write_episode_shards
from components.rollout.cases import load_cases
from components.rollout.spending import SPENT, read_spent
from components.rollout.store import RolloutStore
from components.rollout.teacher import Phase, collect_phase, collect_teacher, phase_seeds
from components.storage.atomic import read_jsonl, replace_folder, write_jsonl
from components.tracking.costs import reroll_costs

pytestmark = pytest.mark.slow


class Tampered(NamedTuple):
    """A checkout whose first phase was reviewed."""

    paths: Paths
    lost: list[str]
    """Cases whose episodes were spoiled: a re-roll brings good ones."""
    hopeless: str
    """A case whose private record says the opposite of what can be seen: no re-roll helps."""

    @property
    def targets(self) -> list[str]:
        return sorted([*self.lost, self.hopeless])


@pytest.fixture(scope="module")
def collected(built: Path, params: Params, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("collected") / "checkout"
    shutil.copytree(built, root)
    collect_teacher(params, Paths(root))
    return root


@pytest.fixture
def tampered(collected: Path, params: Params, tmp_path: Path) -> Tampered:
    paths = Paths(tmp_path / "checkout")
    shutil.copytree(collected, paths.root)
    cases = [case.case_id for case in load_cases(paths, Split.TRAIN)]
    lost, hopeless = cases[:2], cases[2]
    rewrite(paths.episodes, lambda episode: spoiled(episode) if episode.case.case_id in lost else episode)
    turn_around(paths, hopeless)
    review_episodes(params, paths)
    return Tampered(paths, lost, hopeless)


def rewrite(folder: Path, change: Callable[[Episode], Episode]) -> None:
    changed = [change(episode) for episode in read_episodes(folder)]
    for path in folder.glob("episodes-*.parquet"):
        path.unlink()
    write_episode_shards(folder, changed)


def spoiled(episode: Episode) -> Episode:
    """An episode that no teacher finished."""
    return episode.model_copy(update={"report": None, "steps": (), "termination": Termination.POLICY_ERROR})


def turn_around(paths: Paths, case_id: str) -> None:
    other = {Verdict.SUPPORTED: Verdict.REFUTED, Verdict.REFUTED: Verdict.SUPPORTED}
    path = paths.gold / "train.jsonl"
    rows = [
        gold.model_copy(update={"factual_status": other[gold.factual_status]}) if gold.case_id == case_id else gold
        for gold in read_jsonl(path, Gold)
    ]
    write_jsonl(path, rows)


def under(params: Params, attempts: int, calls: int | None = None) -> Params:
    sections = {"reroll": RerollParams(attempts=attempts), "budget": BudgetParams(episodes_calls=calls)}
    return params.model_copy(update=sections)


def cases_in(folder: Path) -> list[str]:
    return sorted({episode.case.case_id for episode in read_episodes(folder)})


def decisions_in(folder: Path) -> list[Decision]:
    return read_decisions(folder)


def finished(paths: Paths) -> dict[str, Episode]:
    """What the ledgers of the unfinished stage hold."""
    folders = (paths.work / "rollouts/reroll").glob("*/attempt-*")
    return {name: episode for folder in folders for name, episode in RolloutStore(folder).episodes().items()}


def finished_ledgers(paths: Paths) -> dict[str, str]:
    """What lies in the stage's work folder, by content."""
    return digests(paths.work / "rollouts/reroll")


def told(episodes: list[Episode]) -> list[tuple[object, ...]]:
    """Episodes without their times."""
    return [(item.episode_id, item.report, [seen.text for seen in item.observations]) for item in episodes]


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_only_cases_without_an_admitted_episode_are_run_again_up_to_the_bound(
    tampered: Tampered, params: Params
) -> None:
    paths = tampered.paths
    before = {episode.case.case_id for episode in admitted_episodes(paths)}
    summary = reroll_cases(under(params, 2), paths)

    second, third = paths.rerolled / "attempt-02", paths.rerolled / "attempt-03"
    assert cases_in(second) == tampered.targets, "none that has an admitted episode is run again"
    assert cases_in(third) == [tampered.hopeless]
    assert sorted(path.name for path in paths.rerolled.iterdir()) == [
        "attempt-02",
        "attempt-03",
        "episodes.parquet",
        UNRESOLVED,
    ]
    seeds = [{episode.seed for episode in read_episodes(folder)} for folder in (paths.episodes, second, third)]
    assert not seeds[0] & seeds[1] | seeds[0] & seeds[2] | seeds[1] & seeds[2]
    assert all(len(found) == params.episodes.rollouts_per_case for found in seeds)

    admitted = {episode.case.case_id for episode in admitted_episodes(paths)}
    assert admitted == before | set(tampered.lost)
    assert {item.attempt for item in decisions_in(second)} == {2}
    bank = teacher_bank(paths)
    shown = {digest for episode in admitted_episodes(paths) for item in episode.observations for digest in item.images}
    assert all(digest in bank for digest in shown)

    assert (summary.targets, summary.resolved) == (3, 2)
    assert [phase.targets for phase in summary.funnel.phases.values()] == [len(load_cases(paths, Split.TRAIN)), 3, 1]
    assert summary.funnel.phases["attempt-03"].rejected["verdict:wrong_verdict"] == 2
    assert reroll_costs(paths, params.prices).sent == summary.requests > 0
    assert all((folder / SPENT).exists() for folder in (second, third))


def test_what_is_left_at_the_bound_is_listed_with_its_reasons(tampered: Tampered, params: Params) -> None:
    paths = tampered.paths
    summary = reroll_cases(under(params, 1), paths)
    [left] = read_jsonl(paths.rerolled / UNRESOLVED, Unresolved)
    assert (left.case_id, left.kind) == (tampered.hopeless, Kind.QUALITY)
    assert [(reason.attempt, reason.outcome) for reason in left.reasons] == [
        (attempt, "verdict:wrong_verdict") for attempt in (1, 1, 2, 2)
    ]
    assert summary.unresolved == {Kind.ENGINEERING: 0, Kind.QUALITY: 1}


def test_without_attempts_nothing_is_run_and_failed_runs_are_told_from_bad_ones(
    tampered: Tampered, params: Params
) -> None:
    paths = tampered.paths
    summary = reroll_cases(under(params, 0), paths)
    left = {item.case_id: item.kind for item in read_jsonl(paths.rerolled / UNRESOLVED, Unresolved)}
    assert left == dict.fromkeys(tampered.lost, Kind.ENGINEERING) | {tampered.hopeless: Kind.QUALITY}
    assert (summary.collected, summary.requests) == (0, 0)
    assert summary.unresolved == {Kind.ENGINEERING: 2, Kind.QUALITY: 1}
    assert not list(paths.rerolled.glob("attempt-*"))


def test_a_phase_is_collected_without_private_records_and_waits_for_them(tampered: Tampered, params: Params) -> None:
    paths = tampered.paths
    hidden = paths.root / "kept"
    shutil.move(paths.facts.parent, hidden)
    with pytest.raises(EviflowError, match=r"train\.jsonl is not there"):
        reroll_cases(under(params, 1), paths)
    assert not paths.rerolled.exists(), "a phase that was not reviewed is no output"
    before = finished(paths)
    assert sorted({episode.case.case_id for episode in before.values()}) == tampered.targets
    assert len(before) == 3 * params.episodes.rollouts_per_case

    shutil.move(hidden, paths.facts.parent)
    reroll_cases(under(params, 1), paths)
    after = {episode.episode_id: episode for episode in read_episodes(paths.rerolled / "attempt-02")}
    assert after == before, "nothing was run twice"


def test_a_stage_that_was_stopped_goes_on_to_the_same_and_pays_nothing_twice(
    tampered: Tampered, params: Params
) -> None:
    paths = tampered.paths
    first = read_spent(paths.episodes).requests
    with pytest.raises(BudgetReached, match=r"budget.episodes_calls is"):
        reroll_cases(under(params, 2, calls=first + 8), paths)
    before = finished(paths)
    assert 0 < len(before) < 6
    assert not paths.rerolled.exists()

    reroll_cases(under(params, 2), paths)
    second = paths.rerolled / "attempt-02"
    after = {episode.episode_id: episode for episode in read_episodes(second)}
    assert {name: after[name] for name in before} == before, "what was finished was not run again"
    assert read_spent(second).requests == sum(
        used.calls for episode in after.values() for item in episode.observations for used in item.usage
    )
    stopped, left = told(read_episodes(second)), (paths.rerolled / UNRESOLVED).read_bytes()
    shutil.rmtree(paths.rerolled)
    shutil.rmtree(paths.work)
    reroll_cases(under(params, 2), paths)
    assert told(read_episodes(second)) == stopped
    assert (paths.rerolled / UNRESOLVED).read_bytes() == left


def test_the_budget_of_the_first_phase_counts(tampered: Tampered, params: Params) -> None:
    first = read_spent(tampered.paths.episodes).requests
    assert first > 0
    with pytest.raises(BudgetReached, match="with 0 of 6 episodes finished"):
        reroll_cases(under(params, 1, calls=first), tampered.paths)


def test_a_phase_never_changes_again(tampered: Tampered, params: Params) -> None:
    paths = tampered.paths
    reroll_cases(under(params, 1), paths)
    second = paths.rerolled / "attempt-02"
    first, before = digests(paths.episodes), digests(second)
    assert {"decisions.jsonl", "spent.json"} < set(before)
    reroll_cases(under(params, 2), paths)
    assert digests(second) == before, "a further phase leaves those before it as they are, to the byte"
    assert digests(paths.episodes) == first


def test_other_gates_run_nothing_again(tampered: Tampered, params: Params) -> None:
    paths = tampered.paths
    reroll_cases(under(params, 1), paths)
    before = digests(paths.rerolled / "attempt-02")
    asked = finished_ledgers(paths)
    turn_around(paths, tampered.hopeless)
    reroll_cases(under(params, 1), paths)
    after = digests(paths.rerolled / "attempt-02")
    assert {name for name in before if after[name] != before[name]} == {"decisions.jsonl"}
    assert finished_ledgers(paths) == asked
    assert not read_jsonl(paths.rerolled / UNRESOLVED, Unresolved)


def test_a_phase_needs_public_data_alone(params: Params, paths: Paths) -> None:
    shutil.rmtree(paths.facts.parent)
    cases = load_cases(paths, Split.TRAIN)[:2]
    with replace_folder(paths.rerolled) as staging:
        phase = Phase(cases, phase_seeds(params.episodes, 2), staging / "attempt-02", "re-roll")
        summary = collect_phase(params, paths, phase, paths.work / "phase")
    assert (summary.cases, summary.episodes) == (2, 2 * params.episodes.rollouts_per_case)


def test_a_checkout_that_was_not_reviewed_is_told_so(params: Params, paths: Paths) -> None:
    with pytest.raises(EviflowError, match="eviflow stage review"):
        reroll_cases(params, paths)
