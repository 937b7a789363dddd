"""What a chat server replied, and whether anybody may act on it.

Besides OpenAI's fields, those of vLLM are read: `reasoning` (once `reasoning_content`), `token_ids`, and tokens that
are written as `token_id:NUMBER`.
"""

import json
import math
from itertools import groupby
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, StrictInt, ValidationError

from components.tools.clients.errors import Quarantined

SERVICE = "language model"
LONGEST_RUN = 15
"""Token 0 so often in a row is text; more is a broken cache, which gives nothing else until the reply is cut off."""
_WHOLE = frozenset({"stop", "tool_calls", "function_call"})
"""Finish reasons of a reply that is whole."""
_ID = "token_id:"


class CalledFunction(NamedTuple):
    """A call as the server parsed it."""

    name: str
    arguments: str
    """A JSON object as text, unless the model wrote something else."""


class Candidate(NamedTuple):
    """A token that might have been sampled."""

    token: int | str
    """Its id, or its text where the server does not tell ids."""
    logprob: float
    """Natural."""


class Completion(NamedTuple):
    """A reply."""

    content: str
    reasoning: str
    """The thought, where the server keeps it apart; empty otherwise."""
    tool_calls: tuple[CalledFunction, ...]
    finish_reason: str
    token_ids: tuple[int, ...] | None
    """Of everything that was sampled, the stop token included; None where the server does not tell."""
    logprobs: tuple[float, ...] | None
    """Of each token."""
    top_logprobs: tuple[tuple[Candidate, ...], ...] | None
    """Of each token, the candidates that the server names; None where none were asked for."""
    prompt_tokens: int
    completion_tokens: int
    model: str
    """As the server calls it."""
    body: bytes = b""
    """The reply as it came; empty where nobody sent one."""


class _Function(BaseModel):
    name: str
    arguments: str | dict[str, Any] | None = None


class _Call(BaseModel):
    function: _Function


class _Message(BaseModel):
    content: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None


class _Named(BaseModel):
    token: str
    logprob: float | None = None

    @property
    def token_id(self) -> int | None:
        digits = self.token.removeprefix(_ID)
        return int(digits) if digits != self.token and digits.isdecimal() else None


class _Token(_Named):
    top_logprobs: list[_Named] | None = None


class _Logprobs(BaseModel):
    content: list[_Token] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = "stop"
    token_ids: list[StrictInt] | None = None
    logprobs: _Logprobs | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0


class _Billed(BaseModel):
    usage: _Usage = _Usage()


class _Reply(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None
    model: str = ""


def read_completion(body: bytes, service: str = SERVICE) -> Completion:
    """The completion in a reply's body; `service` names who replied, in words that a policy may read.

    Raises:
        Quarantined: it has another form, or something in it says that it may not be used.

    """
    reply = _reply(body, service)
    tokens = _tokens(reply.choices[0])
    fault = _fault_of_numbers(tokens) or _fault(completion := _completion(reply, tokens, body))
    if fault:
        raise Quarantined(service, fault, body)
    return completion


def unchecked_completion(body: bytes) -> Completion:
    """The completion in a reply's body, whatever may be said against using it; to find out about the server alone.

    Raises:
        Quarantined: it has another form.

    """
    reply = _reply(body, SERVICE)
    return _completion(reply, _tokens(reply.choices[0]), body)


def _reply(body: bytes, service: str) -> _Reply:
    try:
        return _Reply.model_validate(json.loads(body))
    except (ValueError, RecursionError) as error:
        form = "a reply in another form" if isinstance(error, ValidationError) else "a reply that is no JSON"
        raise Quarantined(service, form, body) from error


def _tokens(choice: _Choice) -> list[_Token]:
    return (choice.logprobs.content if choice.logprobs else None) or []


def _completion(reply: _Reply, tokens: list[_Token], body: bytes) -> Completion:
    choice, usage = reply.choices[0], reply.usage or _Usage()
    message = choice.message
    return Completion(
        content=message.content or "",
        reasoning=message.reasoning or message.reasoning_content or "",
        tool_calls=tuple(_called(call.function) for call in message.tool_calls or ()),
        finish_reason=choice.finish_reason or "stop",
        token_ids=_ids(choice, tokens),
        logprobs=tuple(token.logprob or 0.0 for token in tokens) or None,
        top_logprobs=_candidates(tokens),
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
        model=reply.model,
        body=body,
    )


def _called(function: _Function) -> CalledFunction:
    given = function.arguments
    return CalledFunction(function.name, given if isinstance(given, str) else json.dumps(given or {}))


def _ids(choice: _Choice, tokens: list[_Token]) -> tuple[int, ...] | None:
    if choice.token_ids:
        return tuple(choice.token_ids)
    told = [token.token_id for token in tokens]
    return tuple(number for number in told if number is not None) if told and None not in told else None


def _candidates(tokens: list[_Token]) -> tuple[tuple[Candidate, ...], ...] | None:
    """Without those that a grammar has ruled out, whose log-probability is minus infinity."""
    if not any(token.top_logprobs for token in tokens):
        return None
    possible = ([item for item in token.top_logprobs or () if item.logprob != -math.inf] for token in tokens)
    return tuple(tuple(_named(item) for item in items) for items in possible)


def _named(item: _Named) -> Candidate:
    return Candidate(item.token if item.token_id is None else item.token_id, item.logprob or 0.0)


def _fault_of_numbers(tokens: list[_Token]) -> str:
    """Why the log-probabilities show a broken model; empty when they do not."""
    chosen = all(_is_finite(token.logprob) for token in tokens)
    named = [item.logprob for token in tokens for item in token.top_logprobs or ()]
    if chosen and all(_is_finite(value) or value == -math.inf for value in named):
        return ""
    return "numbers that are not finite"


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _fault(completion: Completion) -> str:
    """Why nobody may act on the completion; empty when one may."""
    ids, logprobs = completion.token_ids, completion.logprobs
    if min(ids or (0,)) < 0:
        return f"token {min(ids or ())}, which no vocabulary has"
    runs = (sum(1 for _ in run) for token, run in groupby(ids or ()) if token == 0)
    if max(runs, default=0) > LONGEST_RUN:
        return f"a run of more than {LONGEST_RUN} times token 0"
    if completion.finish_reason == "length":
        return f"cut off after {completion.completion_tokens or len(ids or ())} tokens"
    if completion.finish_reason not in _WHOLE:
        return f"ended with {completion.finish_reason[:40]!r}"
    if completion.finish_reason != "stop" and not completion.tool_calls and not completion.content.strip():
        return "a call was announced, and there is none"
    if ids and logprobs and len(ids) != len(logprobs):
        return f"{len(logprobs)} log-probabilities for {len(ids)} tokens"
    return ""


def tokens_of(body: bytes) -> tuple[int, int]:
    """Tokens that were read and written for a reply, whatever else is in it; nought where it does not say."""
    try:
        told = _Billed.model_validate_json(body).usage
    except ValidationError:
        return 0, 0
    return told.prompt_tokens or 0, told.completion_tokens or 0
