import json
from collections.abc import Sequence
from typing import Any

import pytest
from openai_double import MODEL
from served_teacher import teaching

from components.agent.codec import render_report
from components.config.paths import Paths
from components.config.schema import AgentParams, BudgetParams, EvaluationParams, Params
from components.config.serving import ServingParams
from components.errors import BudgetReached, EviflowError, PreflightError
from components.evaluation.judgment import Judgment
from components.evaluation.stage import evaluate
from components.evaluation.systems import System
from components.policies.scripted import ScriptedTeacher
from components.records.case import Verdict
from components.records.conversation import Conversation, Policy
from components.records.episode import Report, Turn
from components.records.image_bank import ImageBank
from components.records.shards import read_episodes
from components.records.source_access import SourceAccess
from components.storage.atomic import read_jsonl, write_json, write_text

pytestmark = pytest.mark.slow


class Mumbler:
    """Says nothing that can be read; judging directly it refutes everything."""

    quick = True

    def __init__(self, name: str) -> None:
        self.name = name

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        refuted = Report(verdict=Verdict.REFUTED, explanation="it looks wrong", cited=())
        return [Turn(text="hm" if item.offered else render_report("guess.", refuted)) for item in conversations]


class Counting(ScriptedTeacher):
    """The teacher under another name, counting what it is asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked = 0

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        self.asked += len(conversations)
        return super().act(conversations)


class Maker:
    """Makes the doubles and remembers which were made."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, system: System, params: Params, paths: Paths, bank: ImageBank) -> Policy:
        self.made.append(system.name)
        return Counting(system.name) if system.trained else Mumbler(system.name)


@pytest.fixture
def ready(paths: Paths) -> Paths:
    """A checkout that seems to hold both policies."""
    write_text(paths.base_policy / "config.json", "{}")
    write_text(paths.sft_policy / "config.json", "{}")
    return paths


def test_three_systems_are_judged_on_every_case(params: Params, ready: Paths) -> None:
    result = evaluate(params, ready, Maker())
    assert set(result.systems) == {"untrained_agent", "untrained_direct", "sft"}
    sft, direct = result.systems["sft"], result.systems["untrained_direct"]
    cases = len((ready.benchmark / "test.jsonl").read_text().splitlines())
    for system in result.systems.values():
        assert len(read_episodes(system.episodes_path)) == cases
        judgments = read_jsonl(system.judgements_path, Judgment)
        assert len(judgments) == cases
        assert system.metrics["n"] == cases
        assert system.metrics["sesr"] == sum(item.strong for item in judgments) / cases
    assert sft.metrics["balanced_accuracy"] >= 0.8
    assert sft.metrics["sesr"] >= 0.8
    assert direct.metrics["balanced_accuracy"] == 0.5
    assert direct.metrics["sesr"] == 0
    assert result.systems["untrained_agent"].metrics["invalid"] == cases
    assert result.differences["sft-untrained_agent"].metrics["sesr"] == sft.metrics["sesr"]

    numbers = json.loads(result.metrics_path.read_text())
    assert numbers["systems"]["sft"]["metrics"] == sft.metrics
    assert set(numbers["baselines"]) == {"majority", "nearest_reference"}
    assert "SFT agent" in result.report_path.read_text()
    costs = json.loads((ready.evaluation / "costs.json").read_text())
    assert costs["sft"]["total"]["requests"] == costs["sft"]["sent"] > cases
    assert costs["sft"]["total"]["list_usd"] > 0 == costs["sft"]["total"]["spent_usd"]
    assert len(costs["sft"]["episodes"]) == cases
    assert costs["untrained_direct"]["total"]["requests"] == 0
    bank = ImageBank(ready.evaluation, also=[ready.benchmark, ready.web])
    episodes = read_episodes(sft.episodes_path)
    assert all(name in bank for item in episodes for seen in item.observations for name in seen.images)


def test_a_system_runs_again_only_when_something_it_depends_on_has_changed(params: Params, ready: Paths) -> None:
    maker = Maker()
    first = evaluate(params, ready, maker)
    assert maker.made == ["untrained_direct", "untrained_agent", "sft"]

    more_samples = params.model_copy(update={"evaluation": EvaluationParams(bootstrap_samples=300)})
    assert evaluate(more_samples, ready, maker).systems["sft"].metrics == first.systems["sft"].metrics
    assert len(maker.made) == 3

    write_text(ready.sft_policy / "config.json", '{"other": 1}')
    evaluate(params, ready, maker)
    assert maker.made[3:] == ["sft"]

    first.systems["sft"].episodes_path.unlink()
    evaluate(params, ready, maker)
    assert maker.made[4:] == ["sft"]

    evaluate(params.model_copy(update={"agent": AgentParams(action_budget=20)}), ready, maker)
    assert sorted(maker.made[5:]) == ["sft", "untrained_agent", "untrained_direct"]

    write_json(ready.source_access, SourceAccess(excluded_urls=("https://chirp.example/owl/1",)))
    evaluate(params, ready, maker)
    assert sorted(maker.made[8:]) == ["sft", "untrained_agent", "untrained_direct"]


def test_all_systems_share_a_budget_and_what_is_finished_is_kept(params: Params, ready: Paths) -> None:
    def under(calls: int) -> Params:
        return params.model_copy(update={"budget": BudgetParams(evaluation_calls=calls)})

    maker = Maker()
    with pytest.raises(BudgetReached, match=r"`evaluation` is spent, .* \(budget.evaluation_calls is 9\)"):
        evaluate(under(9), ready, maker)
    assert not (ready.evaluation / "metrics.json").exists(), "an evaluation that has stopped is not done"
    assert not (ready.evaluation / "report.html").exists()
    assert maker.made == ["untrained_direct", "untrained_agent", "sft"]

    result = evaluate(under(9_000), ready, maker)
    assert maker.made[3:] == ["sft"]
    assert result.costs["sft"].sent == result.costs["sft"].total.requests, "nothing was asked twice"


def test_a_model_on_a_server_is_judged_beside_the_others_and_asked_once(params: Params, ready: Paths) -> None:
    maker = Maker()
    with teaching() as server:

        def on(**serving: Any) -> Params:
            evaluation = params.evaluation.model_copy(update={"served": server.policy})
            return params.model_copy(update={"evaluation": evaluation, "serving": ServingParams(**serving)})

        evaluate(params, ready, maker)
        result = evaluate(on(), ready, maker)
        assert maker.made == ["untrained_direct", "untrained_agent", "sft"], "the others are as they were"
        assert list(result.systems) == ["untrained_direct", "untrained_agent", "sft", "served"]
        assert result.systems["served"].title == f"Served agent ({MODEL})"
        assert result.systems["served"].metrics["balanced_accuracy"] >= 0.8
        assert set(result.differences) == {"sft-untrained_agent", "sft-untrained_direct", "sft-served"}
        assert "Served agent" in result.report_path.read_text()
        assert json.loads((ready.evaluation / "server.json").read_text())["model"] == MODEL
        assert set(server.asked.values()) == {1}

        asked, checks = server.asked.total(), server.checks
        slower = on(concurrency=1, request_timeout_s=30)
        evaluate(
            slower.model_copy(update={"policy": params.policy.model_copy(update={"max_length": 900})}), ready, maker
        )
        assert (server.asked.total(), server.checks) == (asked, checks), "nothing that it depends on has changed"
        evaluate(on(temperature=0.2), ready, maker)
        assert server.asked.total() == 2 * asked


def test_a_server_that_cannot_be_used_is_known_before_any_system_is_run(params: Params, ready: Paths) -> None:
    maker = Maker()
    evaluation = params.evaluation.model_copy(update={"served": "openai:http://127.0.0.1:9/v1#m"})
    with pytest.raises(PreflightError, match=r"m at http://127.0.0.1:9/v1 cannot be used"):
        evaluate(params.model_copy(update={"evaluation": evaluation}), ready, maker)
    assert maker.made == []


def test_a_missing_policy_is_named(params: Params, paths: Paths) -> None:
    with pytest.raises(EviflowError, match="eviflow stage policy"):
        evaluate(params, paths, Maker())
