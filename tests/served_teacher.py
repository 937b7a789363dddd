"""A server on loopback that investigates as the scripted teacher does, counts every call, and breaks at given rates."""

import base64
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from openai_double import FAILING, ChatServer, Reply, reply
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from components.agent.codec import call_block
from components.agent.prompts import report_request
from components.policies.scripted import ScriptedTeacher
from components.records.conversation import Conversation, Message, ToolSchema
from components.records.image_bank import sha256_hex

NOTE = "note"
"""The tool of a start-up check."""


class Turned(NamedTuple):
    """What a call is about: it is paid for once."""

    picture: str
    seed: int
    turn: int


class TeachingServer(ChatServer):
    """Answers a conversation as the scripted teacher would.

    Args:
        server: where it answers.

    """

    def __init__(self, server: HTTPServer) -> None:
        self._guard = threading.Lock()
        self.asked: Counter[Turned] = Counter()
        """How often each turn was asked for."""
        self.answered: Counter[Turned] = Counter()
        """How often it was given a right answer, whether anybody was left to read it or not."""
        self.checks = 0
        """Requests of start-up checks."""
        self.faults: Mapping[str, Reply] = {}
        self.rate = 0.0
        """Share of requests that meet one of them."""
        self.met: Counter[str] = Counter()
        """Which were met."""
        self.thoughtful = False
        """Whether it thinks on and on, whatever its budget."""
        self.key: str | None = None
        """What it wants to be told."""
        self._random = random.Random(11)
        super().__init__(server)

    def _reply(self, request: Request) -> Response:
        body = request.get_json()
        if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
            return FAILING["401"]()
        if "tools" not in body:
            return reply("3167", reasoning="and so on " * (200 if self.thoughtful else 0))()
        if body.get("tools", [{}])[0].get("function", {}).get("name") == NOTE:
            with self._guard:
                self.checks += 1
            return reply(None, calls=[(NOTE, '{"word": "ready"}')], finish="tool_calls")()
        conversation = conversation_of(body)
        turned = turned_of(conversation)
        with self._guard:
            self.asked[turned] += 1
            fault = self._random.choice(sorted(self.faults)) if self._random.random() < self.rate else None
            if fault:
                self.met[fault] += 1
            else:
                self.answered[turned] += 1
        return self.faults[fault]() if fault else reply(ScriptedTeacher().act([conversation])[0].text)()


def conversation_of(body: Mapping[str, Any]) -> Conversation:
    """The conversation that a request tells."""
    messages = tuple(_message(message) for message in body["messages"])
    offered = tuple(
        ToolSchema(tool["function"]["name"], tool["function"]["description"], tool["function"]["parameters"])
        for tool in body.get("tools", ())
    )
    reporting = any(report_request() in message.text for message in messages if message.role == "user")
    return Conversation(messages, offered, offered, "report" if reporting else "investigate", body["seed"])


def turned_of(conversation: Conversation) -> Turned:
    picture = next(digest for message in conversation.messages for digest in message.images)
    return Turned(picture, conversation.seed, sum(message.role == "assistant" for message in conversation.messages))


def _message(told: Mapping[str, Any]) -> Message:
    parts = told["content"] or ""
    if isinstance(parts, str):
        parts = [{"type": "text", "text": parts}]
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    pictures = tuple(
        sha256_hex(base64.b64decode(part["image_url"]["url"].partition(",")[2]))
        for part in parts
        if part["type"] == "image_url"
    )
    for call in told.get("tool_calls", ()):
        text += "\n\n" + call_block(call["function"]["name"], json.loads(call["function"]["arguments"]))
    name = re.match(r"o\d+$", text.partition("\n")[0]) if told["role"] == "tool" else None
    return Message(told["role"], text, images=pictures, observation_id=name and name.group())


@contextmanager
def teaching() -> Iterator[TeachingServer]:
    """A server of its own."""
    with HTTPServer(threaded=True) as server:
        yield TeachingServer(server)
