"""What a server is tried for before a stage asks it, and what is said of one that cannot be used."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from openai_double import FAILING, KEY, MODEL, STORMS, ChatServer, chatting, completion, reply
from pydantic import SecretStr
from real_server import REAL, REAL_KEY
from vendor_doubles import answer
from werkzeug import Response

from components.config.served import ServedModel, read_served_model
from components.config.serving import ServingParams
from components.errors import PreflightError
from components.policies.served_check import Checked, ServerCheck
from components.records.episode import Turn
from components.tools.clients.errors import Quarantined

CALLED = reply(None, calls=[("note", '{"word": "ready"}')], finish="tool_calls", reasoning="they want a note")


@pytest.fixture(scope="module")
def running() -> Iterator[ChatServer]:
    with chatting() as server:
        yield server


@pytest.fixture
def server(running: ChatServer) -> ChatServer:
    running.forget()
    running.gives(CALLED)
    return running


def check(server: ChatServer, charged: list[Turn | Exception] | None = None, **params: Any) -> Checked:
    charge = (charged if charged is not None else []).append
    served = read_served_model(server.policy)
    return asyncio.run(ServerCheck(served, ServingParams(**params), SecretStr(KEY), charge).check())


def refusal(server: ChatServer, charged: list[Turn | Exception] | None = None, **params: Any) -> str:
    with pytest.raises(PreflightError) as caught:
        check(server, charged, **params)
    text = str(caught.value)
    assert text.startswith(f"{MODEL} at {server.url} cannot be used: ")
    assert KEY not in text
    return text


def thought(words: int, tokens: int, finish: str = "stop", content: str | None = "3167") -> Any:
    body = completion(content, ids=None, logprobs=None, reasoning="add " * words, finish=finish)
    body["usage"]["completion_tokens"] = tokens
    return lambda: answer(body)


def test_a_server_that_does_everything_is_found_right_with_one_question(server: ChatServer) -> None:
    charged: list[Turn | Exception] = []
    found = check(server, charged)
    assert found.sentence == f"{MODEL}: model known, calls parsed, thoughts apart, token ids and log-probabilities"
    assert (found.requests, found.prompt_tokens, found.completion_tokens) == (1, 40, 3)
    assert charged == [Turn(text="", prompt_tokens=40, completion_tokens=3)]
    (sent,) = server.bodies
    assert sent["temperature"] == 0
    assert sent["return_token_ids"] is True
    assert sent["tools"][0]["function"]["name"] == "note"
    assert sent["messages"][0]["content"][0]["type"] == "image_url", "a model that takes no picture is found out"


def test_a_model_that_the_server_does_not_have_is_answered_with_those_it_has(server: ChatServer) -> None:
    server.models = lambda: answer({"data": [{"id": "other"}, {"id": "another"}]})
    assert "it serves no model of that name; it has `other`, `another`" in refusal(server)
    assert server.bodies == [], "nothing is asked of a wrong model"


@pytest.mark.parametrize("models", [lambda: Response("", 404), lambda: answer({"models": []}), lambda: Response("<p>")])
def test_a_server_without_a_list_of_models_is_asked_all_the_same(server: ChatServer, models: Any) -> None:
    server.models = models
    assert "model known" not in check(server).found


def test_a_server_that_is_not_there_is_named() -> None:
    served = ServedModel("http://127.0.0.1:9/v1", "m")
    with pytest.raises(PreflightError, match=r"m at http://127.0.0.1:9/v1 cannot be used: no connection .* whether"):
        asyncio.run(ServerCheck(served, ServingParams(), None).check())


@pytest.mark.parametrize("where", ["models", "completions"])
def test_a_refused_key_is_named_with_its_variable(server: ChatServer, where: str) -> None:
    if where == "models":
        server.models = FAILING["401"]
    else:
        server.gives(FAILING["401"])
    assert "status 401; look at EVIFLOW_OPENAI_KEY" in refusal(server)


def test_a_server_that_does_not_read_calls_is_found_out(server: ChatServer) -> None:
    text = "<tool_call>\n<function=note>\n<parameter=word>\nready\n</parameter>\n</function>\n</tool_call>"
    server.gives(reply(text))
    assert "it left a call in the text; start it with its tool parser" in refusal(server)
    assert check(server, calls="text").found[1] == "calls written in the text"
    server.gives(reply("ready"))
    assert "it made no call though it was asked to" in refusal(server)
    assert "it wrote no call in Qwen's grammar; set serving.calls to parsed" in refusal(server, calls="text")
    server.gives(reply(None, calls=[("note", "word: ready")], finish="tool_calls"))
    assert "arguments are no JSON object" in refusal(server)


def test_a_server_without_a_tool_parser_is_quoted(server: ChatServer) -> None:
    wanted = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    server.gives(lambda: answer({"error": {"message": wanted}}, 400))
    assert f"status 400: {wanted}; look at section `serving`" in refusal(server)


def test_a_server_that_leaves_thoughts_in_the_text_is_found_out(server: ChatServer) -> None:
    server.gives(reply("so\n</think>\n\n", calls=[("note", "{}")], finish="tool_calls"))
    assert "it left the thought in the text; start it with its reasoning parser" in refusal(server)
    server.gives(CALLED)
    assert "it thinks although serving.thinking is false" in refusal(server, thinking=False)


@pytest.mark.parametrize(("ids", "logprobs", "lacks"), [(None, None, "no token ids and"), ((1, 2), None, "no log-")])
def test_a_server_that_tells_no_tokens_is_found_out_where_they_are_wanted(
    server: ChatServer, ids: Any, logprobs: Any, lacks: str
) -> None:
    server.gives(reply(None, calls=[("note", "{}")], finish="tool_calls", ids=ids, logprobs=logprobs))
    assert lacks in refusal(server)
    check(server, capture=False)
    check(server, dialect="openai", temperature=1)
    assert [body["temperature"] for body in server.bodies] == [0, 0, 1]


@pytest.mark.incident("SV-2")
def test_a_server_with_broken_numbers_is_not_begun_with_and_its_reply_is_charged(server: ChatServer) -> None:
    charged: list[Turn | Exception] = []
    server.gives(reply(None, calls=[("note", "{}")], finish="tool_calls", logprobs=(-0.5, float("nan"), 0.0)))
    assert "numbers that are not finite" in refusal(server, charged)
    assert [type(one) for one in charged] == [Quarantined]


@pytest.mark.incident("SV-4")
def test_budgets_of_thoughts_are_tried_out_at_1_and_3(server: ChatServer) -> None:
    server.gives(CALLED, thought(1, 5), thought(3, 6))
    assert check(server, thinking_budget=8192).found[-1] == "budgets of thoughts kept"
    assert [body.get("thinking_token_budget") for body in server.bodies] == [8192, 1, 3]


@pytest.mark.incident("SV-4")
@pytest.mark.parametrize(
    "reply_with",
    [thought(400, 410), thought(400, 0), thought(500, 600, "length", None), thought(0, 600, "length", None)],
    ids=["by its tokens", "by its words", "cut off", "thought unseen"],
)
def test_an_engine_that_does_not_keep_a_budget_is_not_begun_with(server: ChatServer, reply_with: Any) -> None:
    server.gives(CALLED, reply_with)
    text = refusal(server, thinking_budget=8192)
    assert "tokens or more with a budget of 1; take an engine that knows thinking_token_budget" in text
    server.gives(CALLED)
    check(server, thinking_budget=None)


@pytest.mark.incident("SV-3")
@pytest.mark.parametrize("fault", ["cached item", "429 with no patience", "half"])
def test_a_server_that_fails_is_not_begun_with(server: ChatServer, fault: str) -> None:
    server.gives(STORMS[fault][0])
    refusal(server)


@pytest.mark.incident("DR-11")
@pytest.mark.parametrize("where", ["models", "completions"])
def test_a_server_that_never_answers_is_given_up(server: ChatServer, where: str) -> None:
    if where == "models":
        server.models = STORMS["hangs"][0]
    else:
        server.gives(STORMS["hangs"][0])
    assert "no answer within 0.5 s" in refusal(server, request_timeout_s=0.5)


@pytest.mark.skipif(not REAL, reason="EVIFLOW_TEST_OPENAI_URL names no server")
@pytest.mark.parametrize("budget", [None, 64])
def test_a_real_server_is_found_right(budget: int | None) -> None:
    key = SecretStr(REAL_KEY) if REAL_KEY else None
    found = asyncio.run(
        ServerCheck(read_served_model(f"openai:{REAL}"), ServingParams(thinking_budget=budget), key).check()
    )
    assert "calls parsed" in found.found
