"""The chat client against a server on loopback that speaks the format, and breaks."""

import asyncio
import base64
import io
import logging
import math
import time
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from openai_double import BROKEN, FAILING, IDS, KEY, MODEL, ChatServer, chatting, reply
from PIL import Image
from pydantic import SecretStr
from vendor_doubles import answer

from components.tools.clients.chat import LONGEST_SIDE, ChatClient, picture_part, png_part
from components.tools.clients.completions import CalledFunction, Completion
from components.tools.clients.errors import Overloaded, Quarantined, Rejected, ServiceError
from components.tools.clients.http import ATTEMPTS, Requester

ASKED = [{"role": "user", "content": "What is it?"}]


@pytest.fixture(scope="module")
def running() -> Iterator[ChatServer]:
    with chatting() as server:
        yield server


@pytest.fixture
def server(running: ChatServer) -> ChatServer:
    running.forget()
    return running


def complete(server: ChatServer, timeout_s: float = 5, key: str | None = KEY, **named: Any) -> Completion:
    async def go() -> Completion:
        async with Requester(None, timeout_s) as requester:
            client = ChatClient(requester, server.url, MODEL, SecretStr(key) if key else None)
            return await client.complete(ASKED, **{"max_tokens": 50, "temperature": 0.5} | named)

    return asyncio.run(go())


def test_the_request_is_what_was_asked_for(server: ChatServer) -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    complete(server, schema=schema, extra={"top_k": 20})
    assert server.bodies == [
        {
            "model": MODEL,
            "messages": ASKED,
            "max_tokens": 50,
            "temperature": 0.5,
            "top_k": 20,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": schema, "strict": True},
            },
        }
    ]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent(server: ChatServer) -> None:
    complete(server, key=None)
    assert "Authorization" not in server.headers[0]


def test_a_reply_is_read_with_its_tokens(server: ChatServer) -> None:
    server.gives(reply("It is a gala.", top=((11, -0.5), (9, -1.5))))
    found = complete(server)
    assert found.content == "It is a gala."
    assert (found.reasoning, found.tool_calls, found.finish_reason) == ("", (), "stop")
    assert found.token_ids == IDS
    assert found.logprobs == (-0.5, -0.25, 0.0)
    assert found.top_logprobs == (((11, -0.5), (9, -1.5)),) * 3
    assert (found.prompt_tokens, found.completion_tokens, found.model) == (40, 3, MODEL)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_a_thought_and_calls_are_kept_apart(server: ChatServer, field: str) -> None:
    thought = {field: "I look <tool_call>first</tool_call>."}
    server.gives(reply(None, calls=[("visit", '{"url": "x"}')], finish="tool_calls", **thought))
    found = complete(server)
    assert found.reasoning == thought[field]
    assert found.content == ""
    assert found.tool_calls == (CalledFunction("visit", '{"url": "x"}'),)


def test_ids_are_read_from_the_tokens_where_they_are_told_there_alone(server: ChatServer) -> None:
    server.gives(reply(ids=None))
    assert complete(server).token_ids == IDS


def test_a_server_that_tells_no_tokens_is_no_fault(server: ChatServer) -> None:
    server.gives(reply(ids=None, logprobs=None))
    found = complete(server)
    assert (found.token_ids, found.logprobs, found.top_logprobs) == (None, None, None)


@pytest.mark.incident("SV-3")
def test_a_server_whose_caches_are_out_of_step_is_an_outage(server: ChatServer) -> None:
    lost = {"error": {"message": "AssertionError: Expected a cached item for mm_hash='b1'"}}
    server.gives(lambda: answer(lost, 500), reply("text"))
    assert complete(server).content == "text"
    server.gives(lambda: answer(lost, 500))
    with pytest.raises(ServiceError) as caught:
        complete(server)
    assert not isinstance(caught.value, Quarantined)


@pytest.mark.incident("SV-2")
def test_candidates_that_a_grammar_rules_out_are_no_fault_and_left_out(server: ChatServer) -> None:
    server.gives(reply(top=((0, -math.inf), (9, -1.5))))
    assert complete(server).top_logprobs == (((9, -1.5),),) * 3


@pytest.mark.incident("SV-2")
def test_token_0_is_text_unless_it_does_not_end(server: ChatServer) -> None:
    server.gives(reply("!" * 15, ids=(0,) * 15, logprobs=None))
    assert complete(server).token_ids == (0,) * 15


@pytest.mark.incident("SV-1")
@pytest.mark.incident("SV-2")
@pytest.mark.incident("SV-6")
@pytest.mark.parametrize("fault", BROKEN)
def test_a_reply_that_nobody_may_act_on_is_kept_and_not_asked_for_again(fault: str, server: ChatServer) -> None:
    broken, reason = BROKEN[fault]
    server.gives(broken)
    with pytest.raises(Quarantined, match=reason) as caught:
        complete(server)
    assert caught.value.reply == broken().data
    assert len(server.bodies) == 1


@pytest.mark.parametrize("fault", FAILING)
def test_a_server_that_fails_is_told_from_a_bad_reply(fault: str, server: ChatServer) -> None:
    server.gives(FAILING[fault])
    with pytest.raises(ServiceError) as caught:
        complete(server)
    assert not isinstance(caught.value, Quarantined)
    assert isinstance(caught.value, Rejected) == (fault == "401")
    assert isinstance(caught.value, Overloaded) == (fault == "503")
    assert len(server.bodies) == (ATTEMPTS if fault == "503" else 1)


def test_what_a_server_says_of_a_request_is_told(server: ChatServer) -> None:
    server.gives(FAILING["404"])
    with pytest.raises(ServiceError, match="language model: status 404: no such model"):
        complete(server)


def test_a_busy_server_is_asked_again_when_it_says(server: ChatServer) -> None:
    server.gives(lambda: answer({}, 429, Retry_After="1"), reply("later"))
    started = time.monotonic()
    assert complete(server).content == "later"
    assert time.monotonic() - started >= 0.95


@pytest.mark.incident("SV-5")
def test_a_server_that_takes_too_long_is_given_up(server: ChatServer) -> None:
    server.gives(lambda: time.sleep(1) or reply()())
    with pytest.raises(ServiceError, match=r"no answer within 0\.3 s"):
        complete(server, timeout_s=0.3)
    assert len(server.bodies) == 1, "what may have been computed is not asked for again"


@pytest.mark.parametrize("fault", ["repeats", "quarantined", *FAILING])
def test_the_key_is_in_nothing_that_is_said(fault: str, server: ChatServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    own = {"repeats": reply(f"you sent {KEY}"), "quarantined": reply(f"you sent {KEY}", finish="length")}
    server.gives((own | FAILING)[fault])
    try:
        said = str(complete(server))
    except ServiceError as error:
        kept = error.reply.decode() if isinstance(error, Quarantined) else ""
        said = kept + "".join(traceback.format_exception(error))
    logs = "\n".join(record.getMessage() for record in caplog.records if record.name != "werkzeug")
    assert KEY not in said + logs
    assert server.headers[0]["Authorization"].endswith(KEY)


def test_a_picture_for_a_vision_model_is_small_enough() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (2048, 100), "red").save(buffer, format="PNG")
    for picture in (buffer.getvalue(), Image.new("RGBA", (2048, 100), "red")):
        kind, _, data = picture_part(picture)["image_url"]["url"].partition(";base64,")
        shown = Image.open(io.BytesIO(base64.b64decode(data)))
        assert (kind, shown.format, shown.size) == ("data:image/jpeg", "JPEG", (LONGEST_SIDE, 50))
    assert png_part(b"\xfb\xff")["image_url"]["url"] == "data:image/png;base64,+/8="
