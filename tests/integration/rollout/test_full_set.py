from pathlib import Path

import pytest

from components.config.paths import Paths
from components.config.schema import Params
from components.records.case import Gold, Split
from components.records.episode import Termination
from components.rollout.cases import load_cases
from components.rollout.investigate import investigate
from components.storage.atomic import read_jsonl
from components.tools.registry import schemas_for

pytestmark = pytest.mark.slow


def test_the_teacher_investigates_with_the_full_set_as_well(params: Params, paths: Paths) -> None:
    full = params.model_copy(update={"tools": params.tools.model_copy(update={"tool_set": "full"})})
    gold = {item.case_id: item.factual_status for item in read_jsonl(paths.gold / "test.jsonl", Gold)}
    cases = load_cases(paths, Split.TEST)[:4]
    episodes = [investigate(Path(case.case_id), full, paths, "scripted") for case in cases]
    assert {episode.termination for episode in episodes} == {Termination.FINISHED}
    verdicts = [episode.report.verdict for episode in episodes if episode.report]
    assert verdicts == [gold[case.case_id] for case in cases]
    for episode in episodes:
        assert (episode.tool_set, len(episode.exposed_tools)) == ("full", 14)
        assert len(schemas_for(episode.exposed_tools, episode.tool_set)) == 14
