"""A server on loopback that speaks OpenAI's chat format as vLLM does, and replies with what it was given."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pytest_httpserver import HTTPServer
from vendor_doubles import HANGS_S, answer, half, hang
from werkzeug import Request, Response

KEY = "marker-7f3a-of-the-model"
MODEL = "maker/model-1"
IDS = (11, 12, 7)

Reply = Callable[[], Response]


def completion(
    content: str | None = "text",
    *,
    calls: Sequence[tuple[str, str]] = (),
    finish: str = "stop",
    ids: Sequence[int] | None = IDS,
    logprobs: Sequence[float] | None = (-0.5, -0.25, 0.0),
    top: Sequence[tuple[int, float | None]] = (),
    **message: Any,
) -> dict[str, Any]:
    """The body of a reply; `calls` are names and arguments."""
    parsed = [
        {"id": f"call-{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(calls)
    ]
    named = [{"token": f"token_id:{token}", "logprob": value} for token, value in top]
    told = [
        {"token": f"token_id:{token}", "logprob": value, "top_logprobs": named}
        for token, value in zip((*(ids or IDS), *IDS), logprobs or (), strict=False)
    ]
    said = {"role": "assistant", "content": content, **({"tool_calls": parsed} if parsed else {}), **message}
    choice = {
        "index": 0,
        "message": said,
        "finish_reason": finish,
        "logprobs": {"content": told} if logprobs else None,
        **({"token_ids": list(ids)} if ids is not None else {}),
    }
    usage = {"prompt_tokens": 40, "completion_tokens": 3, "total_tokens": 43}
    return {"id": "c", "object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage}


def reply(*given: Any, **named: Any) -> Reply:
    return lambda: answer(completion(*given, **named))


BROKEN: dict[str, tuple[Reply, str]] = {
    "html": (lambda: Response("<html>Bad gateway</html>"), "no JSON"),
    "cut json": (lambda: Response('{"choices": ['), "no JSON"),
    "other keys": (lambda: answer({"hello": 1}), "another form"),
    "no choice": (lambda: answer({"choices": []}), "another form"),
    "nan": (reply(logprobs=(-0.5, float("nan"), 0.0)), "not finite"),
    "null": (reply(logprobs=(-0.5, None, 0.0)), "not finite"),
    "nan candidate": (reply(top=((1, float("nan")),)), "not finite"),
    "infinite": (reply(logprobs=(-0.5, float("inf"), 0.0)), "not finite"),
    "nan as status 400": (
        lambda: answer({"error": {"message": "Out of range float values are not JSON compliant: nan"}}, 400),
        "not finite",
    ),
    "token 0": (reply("!" * 16, ids=(5, *[0] * 16), logprobs=None), "token 0"),
    "length": (reply(finish="length"), "cut off after 3 tokens"),
    "abort": (reply(finish="abort"), "ended with 'abort'"),
    "empty call": (reply(None, finish="tool_calls"), "there is none"),
    "ids without numbers": (reply(ids=(1, 2, 3, 4)), "3 log-probabilities for 4 tokens"),
    "numbers without ids": (reply(ids=(1, 2)), "3 log-probabilities for 2 tokens"),
    "id below nought": (reply(ids=(1, -2, 3)), "token -2, which no vocabulary has"),
    "ids that are fractions": (reply(ids=(1, 2.5, 3)), "another form"),
    "ids that are words": (reply(ids=("1", "2", "3")), "another form"),
    "ids that are none": (reply(ids=(1, None, 3)), "another form"),
}
"""Replies that nobody may act on, and what is said of each."""


def slow() -> Response:
    """A reply whose first byte comes late, and then all at once."""
    time.sleep(HANGS_S)
    return reply()()


def dripping() -> Response:
    """A reply of which a byte comes now and then, never the last."""

    def bytes_of(text: str) -> Iterator[bytes]:
        for sign in text:
            time.sleep(HANGS_S / 20)
            yield sign.encode()

    return Response(bytes_of(" " * 1000))


def reset() -> Response:
    """A connection that is cut in the middle of the reply's head."""

    def cut() -> Iterator[bytes]:
        yield b'{"choices": [{"message": '
        raise ConnectionResetError("the double resets the connection")

    response = Response(cut())
    response.headers["Content-Length"] = "4096"
    return response


CACHED_ITEM = "Expected a cached item for mm_hash='abc'"

STORMS: dict[str, tuple[Reply, int, str]] = {
    "hangs": (hang, 1, "no answer within 0.5 s"),
    "drips": (dripping, 1, "no answer within 0.5 s"),
    "resets": (reset, 1, "RemoteProtocolError"),
    "half": (half, 1, "RemoteProtocolError"),
    "429": (lambda: Response("", 429), 3, "status 429"),
    "429 with a pause": (lambda: answer({"error": "slow down"}, 429, Retry_After="0.1"), 3, "status 429: slow down"),
    "429 with no patience": (
        lambda: answer({"error": "tomorrow"}, 429, Retry_After="86400"),
        1,
        "status 429: tomorrow",
    ),
    "cached item": (lambda: answer({"error": {"message": CACHED_ITEM}}, 500), 3, f"status 500: {CACHED_ITEM}"),
    "401": (lambda: answer({"error": {"message": f"wrong key {KEY}"}}, 401), 1, "status 401"),
    "503": (lambda: Response("", 503), 3, "status 503"),
}
"""What a server does that has no answer, how often it is asked then, and what is said of it."""

FAILING: dict[str, Reply] = {
    "half": half,
    "401": lambda: answer({"error": {"message": f"wrong key {KEY}"}}, 401),
    "404": lambda: answer({"error": {"message": "no such model"}}, 404),
    "503": lambda: Response("", 503),
}


class ChatServer:
    """Replies in turn with what it was given, and with the last of it from then on."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("/v1")
        self.forget()
        server.expect_request("/v1/models").respond_with_handler(lambda request: self.models())
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(self._reply)

    @property
    def policy(self) -> str:
        """What the command line calls it."""
        return f"openai:{self.url}#{MODEL}"

    def forget(self) -> None:
        self.replies: deque[Reply] = deque([reply()])
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.models: Reply = lambda: answer({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def gives(self, *replies: Reply) -> None:
        self.replies = deque(replies)

    def _reply(self, request: Request) -> Response:
        self.bodies.append(request.get_json())
        self.headers.append(dict(request.headers))
        return (self.replies.popleft() if len(self.replies) > 1 else self.replies[0])()


@contextmanager
def chatting() -> Iterator[ChatServer]:
    """A server of its own."""
    with HTTPServer(threaded=True) as server:
        yield ChatServer(server)


def parsed_calls(text: str) -> Reply:
    """A turn as a server with parsers tells it: thought and calls apart. A report stays text."""
    from components.agent.codec import parse_turn

    turn = parse_turn(text)
    if turn.call is None:
        return reply(text.partition("</think>")[2].strip(), reasoning=turn.thought)
    calls = [(turn.call.name, turn.call.arguments_json)]
    return reply(None, calls=calls, finish="tool_calls", reasoning=turn.thought)


def as_text(text: str) -> Reply:
    """A turn as a server without parsers tells it."""
    return reply(text)
