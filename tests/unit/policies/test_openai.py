"""The policy on a server: what it asks, what it makes of replies, and what it refuses."""

import asyncio
import json
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openai_double import BROKEN, FAILING, IDS, KEY, MODEL, STORMS, ChatServer, chatting, completion, reply, slow
from policy_samples import CALL, TOOLS
from pydantic import SecretStr
from real_server import REAL, REAL_KEY
from vendor_doubles import answer
from werkzeug import Response

from components.agent.codec import parse_turn
from components.agent.render import assistant_message
from components.config.served import ServedModel, read_served_model
from components.config.serving import ServingParams
from components.errors import UsageError
from components.policies.openai import OpenAiPolicy
from components.policies.vocabulary import Vocabulary
from components.records.conversation import AsyncPolicy, Conversation
from components.records.episode import Turn
from components.tools.clients.errors import Quarantined, Rejected, ServiceError


@pytest.fixture(scope="module")
def running() -> Iterator[ChatServer]:
    with chatting() as server:
        yield server


@pytest.fixture
def server(running: ChatServer) -> ChatServer:
    running.forget()
    return running


@pytest.fixture
def asked(messages) -> Conversation:
    return Conversation(messages[:5], TOOLS, TOOLS, "investigate", 3)


@pytest.fixture
def policy(server: ChatServer, bank, tmp_path: Path) -> Any:
    def make(**params: Any) -> OpenAiPolicy:
        return OpenAiPolicy(
            read_served_model(server.policy),
            ServingParams(**params),
            bank,
            key=SecretStr(KEY),
            kept=tmp_path / "quarantine",
        )

    return make


def each(policy: AsyncPolicy, *conversations: Conversation) -> list[Turn | BaseException]:
    """Every turn, or what went wrong with it."""

    async def go() -> list[Turn | BaseException]:
        async with policy.session() as answer:
            return await asyncio.gather(*map(answer, conversations), return_exceptions=True)

    return asyncio.run(go())


def test_a_turn_is_a_reply_with_its_tokens_and_its_settings(server: ChatServer, policy, asked) -> None:
    server.gives(reply(CALL, top=((11, -0.5), (9, -1.5))))
    (turn,) = policy(top_logprobs=2).act([asked])
    assert turn.text == CALL
    assert (turn.token_ids, turn.logprobs) == (IDS, (-0.5, -0.25, 0.0))
    assert turn.top_logprobs == (((11, -0.5), (9, -1.5)),) * 3
    assert (turn.finish_reason, turn.prompt_tokens, turn.completion_tokens) == ("stop", 40, 3)
    assert Turn.model_validate_json(turn.model_dump_json()) == turn
    assert json.loads(turn.sampling_json) == {
        "server": server.url,
        "model": MODEL,
        "answered": MODEL,
        "max_tokens": 16384,
        "temperature": 0.7,
        "top_p": 0.95,
        "top_k": 20,
        "min_p": 0.0,
        "presence_penalty": 1.5,
        "frequency_penalty": 0.0,
        "repetition_penalty": 1.0,
        "seed": 3,
        "logprobs": True,
        "top_logprobs": 2,
        "cache_salt": f"{asked.messages[1].images[0]}-s3",
        "return_token_ids": True,
        "return_tokens_as_token_ids": True,
        "logprobs_mode": "unlabelled",
        "chat_template_kwargs": {"enable_thinking": True},
    }


def test_what_is_recorded_is_what_was_sent(server: ChatServer, policy, asked) -> None:
    (turn,) = policy(thinking_budget=100, thinking=False).act([asked])
    recorded, (sent,) = json.loads(turn.sampling_json), server.bodies
    apart = {"server", "answered", "logprobs_mode"}
    assert recorded.keys() - apart == sent.keys() - {"messages", "tools", "tool_choice"}
    assert all(recorded[name] == sent[name] for name in recorded.keys() - apart)
    assert sent["thinking_token_budget"] == 100


@pytest.mark.incident("SV-4")
@pytest.mark.parametrize(("tokens", "kept"), [(500, True), (160, False)])
def test_a_server_that_lets_a_thought_run_on_is_found_out(
    server: ChatServer, policy, asked, tmp_path: Path, tokens: int, kept: bool
) -> None:
    body = completion("ok", ids=None, logprobs=None, reasoning="and then " * 100)
    body["usage"]["completion_tokens"] = tokens
    server.gives(lambda: answer(body))
    (turn,) = each(policy(thinking_budget=100), asked)
    if not kept:
        assert isinstance(turn, Turn)
        return
    assert isinstance(turn, Quarantined)
    assert "434 tokens or more, though its budget is 100" in turn.reason
    assert json.loads(turn.reply) == body
    assert next((tmp_path / "quarantine").iterdir()).read_bytes() == turn.reply
    assert isinstance(each(policy(), asked)[0], Turn)


@pytest.mark.incident("SV-7")
def test_a_models_name_decides_nothing(server: ChatServer, bank, asked, tmp_path: Path) -> None:
    recorded = []
    for name in ("Qwen/Qwen3.5-9B", "gemini-or-gpt"):
        served = read_served_model(f"openai:{server.url}#{name}")
        (turn,) = OpenAiPolicy(served, ServingParams(), bank, key=None, kept=tmp_path).act([asked])
        recorded.append(json.loads(turn.sampling_json) | {"model": "?"})
    first, second = (body | {"model": "?"} for body in server.bodies)
    assert first == second
    assert recorded[0] == recorded[1]


@pytest.mark.incident("SV-1")
def test_no_investigation_reads_what_another_has_left_in_the_cache(server: ChatServer, policy, asked, bank) -> None:
    policy().act([asked, replace(asked, messages=asked.messages[:2]), replace(asked, seed=4)])
    salts = {(body["seed"], len(body["messages"])): body["cache_salt"] for body in server.bodies}
    assert salts[3, 5] == salts[3, 2] != salts[4, 5]
    policy(isolate_cache=False).act([asked])
    assert "cache_salt" not in server.bodies[-1]


def test_calls_that_the_server_has_parsed_are_a_turn(server: ChatServer, policy, asked) -> None:
    calls = [("text_search", '{"query": "Harvest Gala"}')]
    server.gives(reply(None, calls=calls, finish="tool_calls", reasoning="search the title."))
    (turn,) = policy().act([asked])
    assert turn.text == CALL
    assert turn.finish_reason == "stop"
    (sent,) = server.bodies
    assert sent["tools"] == [tool.as_function() for tool in TOOLS]
    assert sent["tool_choice"] == "auto"
    assert "parallel_tool_calls" not in sent, "vLLM would hide that there was more than one call"
    assert sent["messages"][2]["tool_calls"][0]["id"] == sent["messages"][3]["tool_call_id"]


def test_text_calls_are_not_parsed_by_the_server(server: ChatServer, policy, asked) -> None:
    policy(calls="text").act([asked])
    (sent,) = server.bodies
    assert sent["tools"]
    assert sent["tool_choice"] == "none"
    assert sent["messages"][2] == {"role": "assistant", "content": CALL}


def test_tools_are_listed_in_the_report_and_cannot_be_called(server: ChatServer, policy, asked) -> None:
    policy().act([replace(asked, stage="report", tools=())])
    policy().act([replace(asked, stage="report", tools=(), offered=(), messages=asked.messages[:2])])
    listed, direct = server.bodies
    assert listed["tools"]
    assert listed["tool_choice"] == "none"
    assert not {"tools", "tool_choice"} & direct.keys()


def test_the_standard_dialect_sends_nothing_that_only_vllm_knows(server: ChatServer, policy, asked) -> None:
    (turn,) = policy(dialect="openai", capture=False).act([asked])
    (sent,) = server.bodies
    assert sent.keys() == {
        "model", "messages", "max_completion_tokens", "temperature", "top_p", "presence_penalty", "frequency_penalty",
        "seed", "tools", "tool_choice", "parallel_tool_calls",
    }  # fmt: skip
    assert "top_k" not in turn.sampling_json


@pytest.mark.incident("SV-6")
@pytest.mark.parametrize("fault", BROKEN)
def test_no_turn_comes_of_a_broken_reply_and_it_is_kept(
    fault: str, server: ChatServer, policy, asked, tmp_path: Path
) -> None:
    server.gives(BROKEN[fault][0])
    with pytest.raises(Quarantined, match=BROKEN[fault][1]) as caught:
        policy().act([asked])
    (kept,) = (tmp_path / "quarantine").iterdir()
    assert str(kept) in str(caught.value)
    assert kept.read_bytes() == BROKEN[fault][0]().data
    assert len(server.bodies) == 1


def test_the_key_is_in_nothing_that_is_kept(server: ChatServer, policy, asked, tmp_path: Path) -> None:
    one = policy()
    server.gives(reply(f"my key is {KEY}"), reply(f"again {KEY}", finish="length"), FAILING["401"])
    (turn,) = one.act([asked])
    errors = each(one, asked) + each(one, asked)
    assert [type(error) for error in errors] == [Quarantined, Rejected]
    kept = [path.read_text("utf-8") for path in (tmp_path / "quarantine").iterdir()]
    assert len(kept) == 2
    assert KEY not in f"{turn!r}{errors}{kept}{one!r}"


def test_one_failure_leaves_the_other_turns_and_nothing_is_asked_twice(server: ChatServer, policy, asked) -> None:
    others = [replace(asked, seed=seed) for seed in range(6)]

    def by_seed() -> Response:
        return answer({}, 404) if server.bodies[-1]["seed"] == 2 else reply(f"turn {server.bodies[-1]['seed']}")()

    server.gives(by_seed)
    one = policy(concurrency=1)
    assert isinstance(one, AsyncPolicy)
    turns = each(one, *others)
    said = [turn.text if isinstance(turn, Turn) else type(turn).__name__ for turn in turns]
    assert said == ["turn 0", "turn 1", "ServiceError", "turn 3", "turn 4", "turn 5"]
    assert len(server.bodies) == 6


@pytest.mark.incident("DR-11")
@pytest.mark.parametrize("fault", STORMS)
def test_a_server_in_a_storm_is_an_outage_after_a_bounded_number_of_requests(
    fault: str, server: ChatServer, policy, asked, tmp_path: Path
) -> None:
    broken, requests, reason = STORMS[fault]
    server.gives(broken)
    started = time.monotonic()
    (error,) = each(policy(request_timeout_s=0.5, turn_timeout_s=9), asked)
    assert time.monotonic() - started < 5
    assert isinstance(error, ServiceError)
    assert not isinstance(error, Quarantined), "an outage is no broken reply"
    assert str(error).startswith(f"language model: {reason}")
    assert len(server.bodies) == requests
    kept = [path.read_text("utf-8") for path in (tmp_path / "quarantine").glob("*")]
    assert len(kept) == (fault in ("429 with a pause", "429 with no patience", "cached item", "401"))
    assert KEY not in f"{kept}{error}"


def test_a_storm_that_passes_is_waited_out(server: ChatServer, policy, asked) -> None:
    server.gives(STORMS["429 with a pause"][0], STORMS["503"][0], reply("after the storm"))
    (turn,) = policy().act([asked])
    assert turn.text == "after the storm"
    assert len(server.bodies) == 3


def test_a_reply_that_begins_late_is_a_reply(server: ChatServer, policy, asked) -> None:
    server.gives(slow)
    assert policy(request_timeout_s=30).act([asked])[0].text == "text"


@pytest.mark.incident("SV-5")
def test_a_turn_ends_at_its_deadline_and_is_not_asked_for_again(server: ChatServer, policy, asked) -> None:
    server.gives(STORMS["429 with a pause"][0], slow)
    turns = each(policy(request_timeout_s=0.2, turn_timeout_s=0.61, concurrency=1), *[asked] * 4)
    assert "no turn within 0.61 s" in str(turns[-1])
    assert len(server.bodies) < 8


@pytest.mark.incident("SV-5")
def test_deadlines_that_do_not_nest_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"deadlines must nest: 3 x request_timeout_s < turn_timeout_s, not 3 x 10, 30"
    ):
        ServingParams(request_timeout_s=10, turn_timeout_s=30)


@pytest.mark.incident("TC-1")
@pytest.mark.parametrize("label", ["unlabelled", "raw_logprobs", "processed_logprobs"])
def test_each_turn_says_what_its_log_probabilities_are(label: str, server: ChatServer, policy, asked) -> None:
    (turn,) = policy(logprobs=label).act([asked])
    assert json.loads(turn.sampling_json)["logprobs_mode"] == label
    assert "logprobs_mode" not in server.bodies[0]
    server.gives(reply(logprobs=None))
    assert "logprobs_mode" not in json.loads(policy(logprobs=label).act([asked])[0].sampling_json)


@pytest.mark.incident("PT-9")
def test_token_ids_are_of_the_servers_vocabulary_unless_its_tokenizer_is_known(
    server: ChatServer, policy, asked, bank, folder: Path, tmp_path: Path
) -> None:
    (turn,) = policy().act([asked])
    assert turn.vocabulary == f"{server.url}#{MODEL}"
    known = OpenAiPolicy(
        read_served_model(server.policy), ServingParams(), bank, key=None, kept=tmp_path, vocabulary=Vocabulary(folder)
    )
    assert known.act([asked])[0].vocabulary == Vocabulary(folder).name
    server.gives(reply(ids=(5, 1_000_000, 7)))
    with pytest.raises(Quarantined, match=r"token 1000000, though serving\.tokenizer has"):
        known.act([asked])
    server.gives(reply(ids=None, logprobs=None))
    assert policy().act([asked])[0].vocabulary == ""


@pytest.mark.incident("PT-9")
def test_a_student_reads_a_served_turns_ids_only_where_it_has_the_same_vocabulary(
    server: ChatServer, policy, asked, encoder, folder: Path, bank, tmp_path: Path
) -> None:
    letters = [token for sign in CALL for token in encoder.tokenizer.encode(sign)]
    sampled = (*letters, encoder.stop_id)
    server.gives(reply(CALL, ids=sampled, logprobs=[-0.5] * len(sampled)))
    served = read_served_model(server.policy)
    # Such as a student that a server serves.
    same = OpenAiPolicy(served, ServingParams(), bank, key=None, kept=tmp_path, vocabulary=Vocabulary(folder))
    for one, expected in ((same, sampled), (policy(), (*encoder.tokenizer.encode(CALL), encoder.stop_id))):
        (turn,) = one.act([asked])
        row = encoder.encode((*asked.messages, assistant_message(turn)), TOOLS, prompt=False)
        start, end = row.turns[-1]
        assert turn.token_ids == sampled
        assert tuple(row.token_ids[start:end]) == expected


def test_a_picture_that_is_lost_is_the_fault_of_its_conversation(server: ChatServer, policy, asked) -> None:
    lost = replace(asked, messages=(replace(asked.messages[1], images=("f" * 64,)),))
    failed, turn = each(policy(), lost, asked)
    assert "ffff" in str(failed)
    assert isinstance(turn, Turn)


def test_requests_run_side_by_side_as_far_as_allowed(server: ChatServer, policy, asked) -> None:
    together = threading.Barrier(3, timeout=5)

    def when_all_have_come() -> Response:
        together.wait()
        return reply()()

    server.gives(when_all_have_come)
    assert len(policy(concurrency=3).act([asked] * 3)) == 3


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Qwen/Qwen3.5-9B", "openai-Qwen-Qwen3.5-9B"),
        ("../../x", "openai-x"),
        ("a--b c:d", "openai-a-b-c-d"),
        ("m" * 300, f"openai-{'m' * 80}"),
    ],
)
def test_the_name_of_a_policy_fits_a_file(model: str, name: str) -> None:
    assert read_served_model(f"openai:https://a.example/v1/#{model}").name == name
    assert read_served_model(f"openai:https://a.example/v1/#{model}") == ServedModel("https://a.example/v1", model)


@pytest.mark.parametrize(
    "text", ["openai:", "openai:http://a/v1", "openai:a.example#m", "openai:http://a/v1# ", "openai:#m"]
)
def test_an_address_in_another_form_is_answered_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"is no openai:URL#MODEL; an example is openai:http://127"):
        read_served_model(text)


@pytest.mark.parametrize("address", ["https://me:secret@a.example/v1", "https://a.example/v1?key=secret"])
def test_an_address_with_a_key_in_it_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(UsageError, match="EVIFLOW_OPENAI_KEY") as caught:
        read_served_model(f"openai:{address}#m")
    assert "secret" not in str(caught.value)


def test_a_thinking_budget_leaves_room_for_the_turn() -> None:
    with pytest.raises(ValueError, match="thinking_budget must be below max_tokens, not 200 of 100"):
        ServingParams(thinking_budget=200, max_tokens=100)


@pytest.mark.skipif(not REAL, reason="EVIFLOW_TEST_OPENAI_URL names no server")
@pytest.mark.parametrize("calls", ["parsed", "text"])
def test_a_real_server_gives_a_turn(calls: str, bank, asked, tmp_path: Path) -> None:
    params = ServingParams(calls=calls, max_tokens=2048, top_logprobs=2)
    policy = OpenAiPolicy(
        read_served_model(f"openai:{REAL}"), params, bank, key=SecretStr(REAL_KEY) if REAL_KEY else None, kept=tmp_path
    )
    first, second = policy.act([asked, replace(asked, messages=asked.messages[:2])])
    for turn in (first, second):
        parsed = parse_turn(turn.text)
        assert parsed.call or parsed.problem
        assert turn.prompt_tokens > 0
        assert all(math.isfinite(value) for value in turn.logprobs or ())
        assert turn.token_ids is None or turn.logprobs is None or len(turn.token_ids) == len(turn.logprobs)
