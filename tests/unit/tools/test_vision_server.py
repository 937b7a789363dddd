"""A vision-language model on a server, behind the tools: what is sent, what comes back, what it costs."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from app_server import on_a_port
from openai_double import KEY, MODEL, ChatServer, Reply, chatting, reply
from tool_lab import call, case_of

from components.config.paths import Paths
from components.config.schema import Params, ToolParams
from components.config.tools import ModelPrice, PriceParams
from components.records.episode import FailureClass, Observation
from components.records.image_bank import ImageBank
from components.records.usage import policy_meter
from components.tools.prices import total_price
from components.tools.recording import DATABASE
from components.tools.services import open_services
from components.world.app import WorldApp
from components.world.web import Web

COUNT = json.dumps({"target": "lantern", "count": 7, "confidence": 0.9, "details": "", "locations": []})
PARAMS = Params(tools=ToolParams(tool_set="full", perception="model", perception_model=MODEL))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chatting() as server:
        yield server


@pytest.fixture
def checkout(checkout: Paths, server: ChatServer) -> Paths:
    (checkout.root / ".env").write_text(f"EVIFLOW_VISION_URL={server.url}\nEVIFLOW_VISION_KEY={KEY}\n", "utf-8")
    return checkout


def counted(checkout: Paths, server: ChatServer, picture: bytes, given: Reply) -> Observation:
    server.gives(given)

    async def go() -> Observation | str:
        async with open_services(PARAMS, checkout, ImageBank(checkout.episodes)) as services:
            toolbox = services.toolbox(case_of(picture), picture)
            return await call(toolbox, "count_objects", {"target_object": "lantern"}, 1)

    seen = asyncio.run(go())
    assert isinstance(seen, Observation)
    return seen


def test_a_model_counts_and_its_tokens_are_kept_with_the_call(
    checkout: Paths, server: ChatServer, picture: bytes
) -> None:
    seen = counted(checkout, server, picture, reply(COUNT, ids=None, logprobs=None))
    assert seen.text.startswith("lantern: 7")
    (usage,) = seen.usage
    assert (usage.meter, usage.calls, usage.units, usage.output_units) == (policy_meter(MODEL), 1, 40, 3)
    prices = PriceParams(models={"maker/*": ModelPrice(input_usd=1.0, output_usd=10.0)})
    assert total_price(seen.usage, prices) == pytest.approx(70e-6)
    (body,) = server.bodies
    assert body["temperature"] == 0
    assert body["response_format"]["type"] == "json_schema"
    kinds = [part["image_url"]["url"][:15] for part in body["messages"][-1]["content"] if part["type"] == "image_url"]
    assert kinds == ["data:image/jpeg"]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in seen.model_dump_json()


@pytest.mark.parametrize(
    "given",
    [reply("lots of them", ids=None, logprobs=None), reply(COUNT[:20], ids=None, logprobs=None, finish="length")],
)
def test_a_reply_that_is_no_count_is_an_outage_and_never_nought(
    checkout: Paths, server: ChatServer, picture: bytes, given: Reply
) -> None:
    seen = counted(checkout, server, picture, given)
    assert seen.failure is FailureClass.INFRASTRUCTURE
    assert seen.text == "vision model is out of service"
    assert [(used.units, used.output_units) for used in seen.usage] == [(40, 3)], "it is billed all the same"
    assert len(server.bodies) == 1


def test_a_recording_keeps_what_the_model_saw_and_answers_without_it(
    checkout: Paths, server: ChatServer, picture: bytes, web: Web
) -> None:
    server.gives(reply(COUNT, ids=None, logprobs=None))
    calls = [("count_objects", {"target_object": "lantern"}), ("current_time", {})]

    async def go(transport: str, world: str | None) -> list[tuple[str, str]]:
        tools = PARAMS.tools.model_copy(update={"transport": transport, "perception_extra": {"top_k": 1}})
        params = PARAMS.model_copy(update={"tools": tools})
        async with open_services(params, checkout, ImageBank(checkout.episodes), world=world) as services:
            toolbox = services.toolbox(case_of(picture), picture)
            seen = [await call(toolbox, *step, number) for number, step in enumerate(calls, 1)]
        return [(item.text, item.payload_json) for item in seen if isinstance(item, Observation)]

    with on_a_port(WorldApp(web, lambda _: [])) as world:
        told = asyncio.run(go("record", world))
    # A replay needs neither the server nor its address.
    (checkout.root / ".env").unlink()
    assert asyncio.run(go("replay", None)) == told
    assert len(told) == len(calls)
    assert [body["top_k"] for body in server.bodies] == [1]
    kept = (checkout.root / PARAMS.tools.recording / DATABASE).read_bytes()
    assert KEY.encode() not in kept
    assert b"base64" not in kept
