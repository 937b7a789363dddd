"""A policy on an OpenAI-compatible server, such as vLLM: `openai:URL#MODEL`."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from pydantic import SecretStr

from components.config.serving import ServingParams
from components.errors import UsageError
from components.policies.chatting import chat_messages, turn_text
from components.records.conversation import Answer, Conversation
from components.records.episode import Turn
from components.records.image_bank import ImageBank, sha256_hex
from components.storage.atomic import write_bytes
from components.tools.clients.chat import ChatClient
from components.tools.clients.completions import SERVICE, Completion
from components.tools.clients.errors import Quarantined
from components.tools.clients.http import Requester

PREFIX = "openai:"
FORM = f"{PREFIX}URL#MODEL"
_LONGEST_NAME = 80
_NOT_RECORDED = ("tools", "tool_choice", "parallel_tool_calls")
"""Of what is sent, what says nothing about sampling."""
_TAGS = 64
"""Tokens that a server's parser has taken away around a call, or around the thought, at most."""


class ServedModel(NamedTuple):
    """A model, and where it is served."""

    base: str
    """Address up to and with `/v1`."""
    model: str
    """As the server calls it."""

    @property
    def name(self) -> str:
        """What episodes call the policy: fit for the name of a file."""
        return "openai-" + re.sub(r"[^A-Za-z0-9._]+", "-", self.model).strip("-.")[:_LONGEST_NAME]


def read_served_model(text: str) -> ServedModel:
    """The model that `openai:URL#MODEL` names.

    Raises:
        UsageError: it has another form, or a key in it.

    """
    address, _, model = text.removeprefix(PREFIX).partition("#")
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host or not model.strip():
        raise UsageError(f"`{text}` is no {FORM}; an example is openai:http://127.0.0.1:8000/v1#Qwen/Qwen3.5-9B")
    if url.userinfo or url.query:
        raise UsageError(f"the address of {FORM} may hold no key, since it is recorded; set EVIFLOW_OPENAI_KEY instead")
    return ServedModel(address.rstrip("/"), model.strip())


class OpenAiPolicy:
    """Asks a server for each turn.

    Args:
        served: where and what.
        params: how.
        bank: where the conversations' pictures are found.
        key: as `ServiceSettings` holds it; None where the server asks for none.
        kept: folder where replies that may not be used are kept as they came.

    """

    quick = False

    def __init__(
        self, served: ServedModel, params: ServingParams, bank: ImageBank, *, key: SecretStr | None, kept: Path
    ) -> None:
        self.name = served.name
        self._served = served
        self._params = params
        self._bank = bank
        self._key = key
        self._kept = kept

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """One turn for each conversation, in order; raises the first ServiceError that there was."""
        return asyncio.run(self._answer_all(conversations))

    async def _answer_all(self, conversations: Sequence[Conversation]) -> list[Turn]:
        async with self.session() as answer:
            return await asyncio.gather(*map(answer, conversations))

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Answer]:
        """What asks the server for the turn of one conversation, once; raises the ServiceError that it met.

        Connections are kept for as long as the block runs; no more requests are in flight than `params.concurrency`.
        """
        slots = asyncio.Semaphore(self._params.concurrency)
        async with Requester(None, self._params.request_timeout_s) as requester:
            client = ChatClient(
                requester,
                self._served.base,
                self._served.model,
                self._key,
                "max_tokens" if self._params.dialect == "vllm" else "max_completion_tokens",
            )
            yield lambda conversation: self._turn(client, conversation, slots)

    async def _turn(self, client: ChatClient, conversation: Conversation, slots: asyncio.Semaphore) -> Turn:
        parsed = self._params.calls == "parsed"
        settings = request_settings(self._params, conversation)
        try:
            async with slots:
                messages = chat_messages(
                    conversation, self._bank.read, thoughts=self._params.keep_thoughts, parsed=parsed
                )
                completion = await client.complete(
                    messages,
                    max_tokens=self._params.max_tokens,
                    temperature=self._params.temperature,
                    extra=settings,
                )
            self._check_thought(completion)
        except Quarantined as error:
            raise self._keep(error) from error
        return self._as_turn(completion, settings)

    def _check_thought(self, completion: Completion) -> None:
        """Raise Quarantined for a thought that is surely longer than the server was told to let it become.

        A token of the rest has a byte at least, so what the rest cannot account for was thought.
        """
        budget, least = self._params.thinking_budget, completion.completion_tokens - _longest_rest(completion)
        if budget is not None and least > budget:
            reason = f"a thought of {least} tokens or more, though its budget is {budget}: the server does not keep it"
            raise Quarantined(SERVICE, reason, completion.body)

    def _keep(self, error: Quarantined) -> Quarantined:
        """Keep the reply, and say where."""
        path = write_bytes(self._kept / f"{sha256_hex(error.reply)[:16]}.reply", error.reply)
        return Quarantined(error.service, f"{error.reason}; the reply is kept as {path}", error.reply)

    def _as_turn(self, completion: Completion, settings: dict[str, Any]) -> Turn:
        sent = {"max_tokens": self._params.max_tokens, "temperature": self._params.temperature, **settings}
        sampling = {
            "server": self._served.base,
            "model": self._served.model,
            "answered": completion.model,
            **{name: value for name, value in sent.items() if name not in _NOT_RECORDED},
        }
        return Turn(
            text=turn_text(completion),
            token_ids=completion.token_ids,
            logprobs=completion.logprobs,
            top_logprobs=completion.top_logprobs,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            sampling_json=json.dumps(sampling),
        )


def _longest_rest(completion: Completion) -> int:
    """Tokens that a reply can have besides its thought, at most."""
    said = completion.content.rpartition("</think>")[2]
    calls = "".join(f"{call.name}{call.arguments}" for call in completion.tool_calls)
    return len(f"{said}{calls}".encode()) + _TAGS * (1 + len(completion.tool_calls))


def request_settings(params: ServingParams, conversation: Conversation) -> dict[str, Any]:
    """Every field of a request besides the conversation, the temperature and the bound on the reply.

    Tools are listed in the report as well, so that a prompt extends the one before; there they may not be called.
    """
    settings: dict[str, Any] = {
        "top_p": params.top_p,
        "presence_penalty": params.presence_penalty,
        "frequency_penalty": params.frequency_penalty,
        "seed": conversation.seed,
    }
    if params.capture:
        settings["logprobs"] = True
        settings |= {"top_logprobs": params.top_logprobs} if params.top_logprobs else {}
    if params.dialect == "vllm":
        settings |= _vllm_settings(params, conversation)
    if conversation.offered:
        callable_now = params.calls == "parsed" and conversation.stage == "investigate"
        settings |= {
            "tools": [tool.as_function() for tool in conversation.offered],
            "tool_choice": "auto" if callable_now else "none",
        }
        if params.dialect == "openai":
            # vLLM would drop every call but the first, which the loop could then not refuse.
            settings["parallel_tool_calls"] = False
    return settings


def _vllm_settings(params: ServingParams, conversation: Conversation) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "top_k": params.top_k,
        "min_p": params.min_p,
        "repetition_penalty": params.repetition_penalty,
        "chat_template_kwargs": {"enable_thinking": params.thinking},
    }
    if params.isolate_cache:
        picture = next((digest for message in conversation.messages for digest in message.images), "")
        settings["cache_salt"] = f"{picture}-s{conversation.seed}"
    if params.capture:
        settings |= {"return_token_ids": True, "return_tokens_as_token_ids": True}
    if params.thinking_budget is not None:
        settings["thinking_token_budget"] = params.thinking_budget
    return settings
