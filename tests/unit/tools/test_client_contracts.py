"""Each client against a server that speaks its vendor's format and breaks: no breakage reads as an empty result."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from pydantic import ValidationError
from pytest_httpserver import HTTPServer
from vendor_doubles import COMMON, QUOTA, Vendors, answer, serving

from components.agent.codec import render_call
from components.agent.loop import Investigation
from components.config.schema import AgentParams, ToolParams
from components.records.case import Case
from components.records.episode import Turn
from components.records.image_bank import ImageBank
from components.tools.base import Arguments, CaseState, NoArguments, ToolFamily, ToolResult
from components.tools.clients.baidu_ocr import BaiduOcrClient
from components.tools.clients.errors import NotThere, Overloaded, Rejected, ServiceError
from components.tools.clients.http import Requester
from components.tools.clients.jina import JinaClient
from components.tools.clients.serper import SerperClient
from components.tools.toolbox import Accepted, Toolbox

PICTURE = bytes(range(256))
CALLS: dict[str, tuple[str, Callable[[Requester, str], Awaitable[Any]]]] = {
    "search": ("serper", lambda requester, url: SerperClient(requester, "key", url).search("gala")),
    "images": ("serper", lambda requester, url: SerperClient(requester, "key", url).images("gala")),
    "lens": ("serper", lambda requester, url: SerperClient(requester, "key", url).lens("https://a.example/x.png")),
    "read": ("jina", lambda requester, url: JinaClient(requester, "key", url).read("https://example.com/")),
    "ocr": ("baidu", lambda requester, url: BaiduOcrClient(requester, "key", "secret", url).read(PICTURE)),
}


@pytest.fixture
def vendors() -> Iterator[Vendors]:
    with serving() as vendors:
        yield vendors


def make(call: str, vendors: Vendors, timeout_s: float = 0.6) -> Any:
    async def go() -> Any:
        async with Requester(None, timeout_s) as requester:
            return await CALLS[call][1](requester, vendors.url)

    return asyncio.run(go())


@pytest.mark.parametrize("call", CALLS)
def test_a_client_reads_its_vendors_answer(call: str, vendors: Vendors) -> None:
    assert make(call, vendors, 5)


@pytest.mark.parametrize("fault", COMMON)
@pytest.mark.parametrize("call", CALLS)
def test_no_breakage_reads_as_an_empty_result(call: str, fault: str, vendors: Vendors) -> None:
    vendors.faults[CALLS[call][0]] = COMMON[fault]
    with pytest.raises(ServiceError) as caught:
        make(call, vendors)
    assert isinstance(caught.value, Rejected) == (fault in ("401", "403"))
    assert isinstance(caught.value, Overloaded) == (fault == "502")
    assert len(vendors.asked) == (3 if fault == "502" else 1), "only overload is tried again"


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.incident("JS-3")
def test_a_used_up_quota_is_told_from_no_result_and_not_tried_again(call: str, vendors: Vendors) -> None:
    vendors.faults[CALLS[call][0]] = QUOTA[CALLS[call][0]]
    with pytest.raises(Rejected):
        make(call, vendors, 5)
    assert len(vendors.asked) == 1


@pytest.mark.parametrize("call", ["search", "images", "lens"])
def test_rows_that_nobody_can_read_are_no_empty_list(call: str, vendors: Vendors) -> None:
    vendors.faults["serper"] = lambda: answer({"organic": [{"name": 1}], "images": [{"name": 1}]})
    with pytest.raises(ServiceError, match="none of 1"):
        make(call, vendors)


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"code": 200, "data": {"title": "x"}}, 200, ServiceError),
        ({"code": 200, "data": {"content": "x", "warning": "This page maybe requiring CAPTCHA"}}, 200, ServiceError),
        ({"code": 422, "name": "AssertionFailureError", "message": "Failed to goto: TimeoutError"}, 422, ServiceError),
        ({"code": 422, "name": "AssertionFailureError", "message": "net::ERR_NAME_NOT_RESOLVED"}, 422, NotThere),
        ({"code": 400, "name": "ParamValidationError", "path": "url", "message": "no such domain"}, 400, NotThere),
        ({"code": 400, "name": "ParamValidationError", "path": "timeout", "message": "bad"}, 400, ServiceError),
        ({"code": 451, "name": "SecurityCompromiseError", "data": None}, 200, ServiceError),
    ],
)
def test_the_readers_answers(vendors: Vendors, body: object, status: int, kind: type[Exception]) -> None:
    vendors.faults["jina"] = lambda: answer(body, status)
    with pytest.raises(kind):
        make("read", vendors)


@pytest.mark.parametrize("code", [110, 111])
def test_a_token_is_exchanged_once_and_the_call_repeated_once(vendors: Vendors, code: int) -> None:
    vendors.faults["baidu"] = lambda: answer({"error_code": code, "error_msg": "Access token expired"})
    with pytest.raises(Rejected, match=str(code)):
        make("ocr", vendors)
    assert (vendors.tokens, len(vendors.asked)) == (2, 2)


@pytest.mark.parametrize(("code", "attempts"), [(18, 3), (2, 3), (17, 1), (19, 1), (6, 1), (216202, 1)])
def test_only_a_busy_reader_of_text_is_asked_again(vendors: Vendors, code: int, attempts: int) -> None:
    vendors.faults["baidu"] = lambda: answer({"error_code": code, "error_msg": "x"})
    with pytest.raises(ServiceError, match=str(code)):
        make("ocr", vendors)
    assert len(vendors.asked) == attempts


@pytest.mark.parametrize("body", [{"expires_in": 1}, {"access_token": ""}, {"access_token": 1}, {"error": "x"}, []])
def test_a_token_that_is_none_is_a_refusal(httpserver: HTTPServer, body: object) -> None:
    httpserver.expect_request("/oauth/2.0/token").respond_with_json(body)

    async def go() -> None:
        async with Requester(None, 1) as requester:
            await BaiduOcrClient(requester, "k", "s", httpserver.url_for("")).read(PICTURE)

    with pytest.raises(ServiceError):
        asyncio.run(go())


@pytest.mark.parametrize("call", CALLS)
def test_retry_after_is_honoured_by_every_client(call: str, vendors: Vendors) -> None:
    def once() -> Any:
        vendors.faults.clear()
        return answer({}, 429, Retry_After="0")

    vendors.faults[CALLS[call][0]] = once
    assert make(call, vendors, 5)
    assert len(vendors.asked) == 2


@pytest.mark.parametrize(
    "times", [{"request_timeout_s": 200}, {"tool_timeout_s": 50}, {"tool_timeout_s": 7200}, {"episode_timeout_s": 60}]
)
@pytest.mark.incident("SV-5")
def test_deadlines_that_do_not_nest_are_refused(times: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="deadlines must nest"):
        ToolParams(**times)


class Sleeper:
    """A tool that takes too long."""

    name, description, family, limit, arguments = "sleep", "Sleep.", ToolFamily.VISUAL, None, NoArguments

    def refuse(self, arguments: Arguments, state: CaseState) -> str | None:
        return None

    def key(self, arguments: Arguments) -> str | None:
        return None

    async def run(self, arguments: Arguments, state: CaseState) -> ToolResult:
        await asyncio.sleep(30)
        return ToolResult("awake")


def sleeping(bank: ImageBank, call_s: float, episode_s: float) -> Toolbox:
    case = Case(case_id="c1", image_path="x.png", image_sha256="0" * 64)
    return Toolbox(case, b"", [Sleeper()], bank, call_s=call_s, episode_s=episode_s)


def test_a_tool_ends_at_its_deadline_and_an_investigation_at_its_own(bank: ImageBank) -> None:
    toolbox = sleeping(bank, 0.1, 0.25)

    async def go() -> list[str]:
        texts = []
        while not toolbox.out_of_time:
            observation = await toolbox.execute(Accepted(toolbox._tools["sleep"], NoArguments()), "o1")
            texts.append(f"{observation.failure} {observation.text}")
        return texts

    assert asyncio.run(go()) == ["infrastructure no result in time"] * 3
    assert toolbox.state.seconds < 5
    running = Investigation(toolbox.state.case, toolbox, AgentParams(), policy="p", seed=0)
    assert running.actions_left == 0
    assert [tool.name for tool in running.conversation().tools] == ["finish_investigation"]
    step = asyncio.run(running.advance(Turn(text=render_call("x", "sleep", {}))))
    assert step.feedback.startswith("All actions are used.")


def test_without_deadlines_nothing_is_cut_short(bank: ImageBank) -> None:
    assert not sleeping(bank, math.inf, math.inf).out_of_time
