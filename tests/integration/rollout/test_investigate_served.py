"""`eviflow investigate` with a policy on a server, which plays the scripted teacher's turns from a queue."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_double import FAILING, KEY, MODEL, ChatServer, Reply, as_text, chatting, parsed_calls, reply
from typer.testing import CliRunner, Result
from vendor_doubles import answer

from components.cli import app
from components.commands.session import Session
from components.config.paths import Paths
from components.config.schema import Params
from components.records.case import Split
from components.records.episode import Episode, StepKind, Termination
from components.rollout.cases import load_cases
from components.rollout.investigate import PolicyFailed, investigate
from components.storage.atomic import write_bytes

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chatting() as server:
        yield server


@pytest.fixture
def case_id(params: Params, paths: Paths) -> str:
    write_bytes(paths.params, json.dumps(params.model_dump(mode="json")).encode())
    write_bytes(paths.root / ".env", f"EVIFLOW_OPENAI_KEY={KEY}\n".encode())
    return load_cases(paths, Split.TEST)[0].case_id


@pytest.fixture
def taught(params: Params, paths: Paths, case_id: str) -> Episode:
    return investigate(Path(case_id), params, paths, "scripted")


def run(paths: Paths, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["--root", str(paths.root), "investigate", *arguments], obj=Session())


def replies_of(episode: Episode) -> list[Reply]:
    """The turns of an episode, told by a server with parsers and by one without in turn."""
    tell = (parsed_calls, as_text)
    return [tell[step.index % 2](step.turn.text) for step in episode.steps]


def outcome(episode: Episode) -> list[object]:
    observed = [(item.observation_id, item.text, item.status) for item in episode.observations]
    return [episode.report, observed, [step.thought for step in episode.steps]]


def test_a_server_investigates_like_the_policy_that_it_plays(
    server: ChatServer, paths: Paths, case_id: str, taught: Episode
) -> None:
    malformed = reply(None, calls=[("text_search", '{"query": ')], finish="tool_calls")
    server.gives(malformed, *replies_of(taught))
    done = run(paths, case_id, "--policy", server.policy, "--json")
    assert done.exit_code == 0, done.output
    episode = Episode.model_validate_json(done.stdout)
    assert episode.steps[0].kind is StepKind.CORRECTION
    assert outcome(episode.model_copy(update={"steps": episode.steps[1:]})) == outcome(taught)
    assert len(server.bodies) == len(episode.steps)
    assert json.loads(episode.steps[-1].turn.sampling_json)["model"] == MODEL
    page = paths.investigations / f"{episode.case.case_id}-openai-maker-model-1.html"
    assert f"page    {page}" in done.stderr
    assert taught.report is not None
    assert f">{taught.report.verdict.value}</span>" in page.read_text("utf-8")
    written = [file for file in paths.root.rglob("*") if file.is_file() and file.name != ".env"]
    assert not [file for file in written if KEY.encode() in file.read_bytes()]


def test_a_reply_that_may_not_be_used_ends_the_investigation_before_a_tool_runs(
    server: ChatServer, paths: Paths, case_id: str, taught: Episode
) -> None:
    cut = parsed_calls(taught.steps[2].turn.text)().get_json()
    cut["choices"][0]["finish_reason"] = "length"
    server.gives(*replies_of(taught)[:2], lambda: answer(cut))
    done = run(paths, case_id, "--policy", server.policy)
    assert isinstance(done.exception, PolicyFailed)
    assert "turn 3" in str(done.exception)
    assert "cut off after 3 tokens; the reply is kept as" in str(done.exception)
    episode = done.exception.episode
    assert (episode.termination, len(episode.steps)) == (Termination.POLICY_ERROR, 2)
    assert "policy_error" in done.stdout
    assert (paths.investigations / f"{episode.case.case_id}-openai-maker-model-1.html").exists()
    assert len(list(paths.quarantine.iterdir())) == 1
    assert len(server.bodies) == 3


def test_a_refused_key_is_one_sentence_and_no_page(server: ChatServer, paths: Paths, case_id: str) -> None:
    server.gives(FAILING["401"])
    done = run(paths, case_id, "--policy", server.policy)
    assert str(done.exception) == (
        "policy openai-maker-model-1 gave no turn 1 that may be used: language model: status 401; "
        "look at EVIFLOW_OPENAI_KEY"
    )
    assert done.stdout == ""
    assert not paths.investigations.exists()


def test_a_server_that_is_not_there_is_one_sentence(paths: Paths, case_id: str) -> None:
    done = run(paths, case_id, "--policy", "openai:http://127.0.0.1:9/v1#m")
    assert str(done.exception) == (
        "policy openai-m gave no turn 1 that may be used: language model: no connection (ConnectError); "
        "see whether its server runs, and try again"
    )


def test_the_tools_of_one_investigation_can_be_chosen(server: ChatServer, paths: Paths, case_id: str) -> None:
    server.gives(reply("I do not call anything."))
    only = run(paths, case_id, "--policy", server.policy, "--tools", "visit,text_search", "--json")
    without = run(paths, case_id, "--policy", server.policy, "--without", "visual,web_search", "--json")
    assert Episode.model_validate_json(only.stdout).exposed_tools == ("text_search", "visit", "finish_investigation")
    exposed = Episode.model_validate_json(without.stdout).exposed_tools
    assert "reverse_image_search" in exposed
    assert not {"text_search", "perceive_scene"} & set(exposed)
    assert [tool["function"]["name"] for tool in server.bodies[-1]["tools"]] == list(exposed)


def test_another_transport_can_be_chosen(server: ChatServer, paths: Paths, case_id: str) -> None:
    done = run(paths, case_id, "--policy", server.policy, "--transport", "replay")
    assert "recordings/first" in str(done.exception)
    assert server.bodies == []
