"""A policy on an OpenAI-compatible server, such as vLLM: `openai:URL#MODEL`."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr

from components.config.served import ServedModel
from components.config.serving import ServingParams
from components.policies.chatting import chat_messages, turn_text
from components.policies.vocabulary import Vocabulary
from components.records.conversation import Answer, Conversation
from components.records.episode import Turn
from components.records.image_bank import ImageBank, sha256_hex
from components.storage.atomic import write_bytes
from components.tools.clients.chat import ChatClient, problem_of
from components.tools.clients.completions import SERVICE, Completion
from components.tools.clients.errors import Overloaded, Quarantined, Rejected, ServiceError
from components.tools.clients.http import Requester

_NOT_RECORDED = ("tools", "tool_choice", "parallel_tool_calls")
"""Of what is sent, what says nothing about sampling."""
_TAGS = 64
"""Tokens that a server's parser has taken away around a call, or around the thought, at most."""


class OpenAiPolicy:
    """Asks a server for each turn.

    Args:
        served: where and what.
        params: how.
        bank: where the conversations' pictures are found.
        key: as `ServiceSettings` holds it; None where the server asks for none.
        kept: folder where replies that may not be used are kept as they came.
        vocabulary: of the served model; None where nobody says which tokenizer it has.

    """

    quick = False

    def __init__(
        self,
        served: ServedModel,
        params: ServingParams,
        bank: ImageBank,
        *,
        key: SecretStr | None,
        kept: Path,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self.name = served.name
        self._served = served
        self._params = params
        self._bank = bank
        self._key = key
        self._kept = kept
        self._vocabulary = vocabulary

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
                limit_of(self._params),
            )
            yield lambda conversation: self._turn(client, conversation, slots)

    async def _turn(self, client: ChatClient, conversation: Conversation, slots: asyncio.Semaphore) -> Turn:
        parsed = self._params.calls == "parsed"
        settings = request_settings(self._params, conversation)
        try:
            async with turn_deadline(self._params.turn_timeout_s), slots:
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
            self._check_ids(completion)
        except ServiceError as error:
            self._keep(error)
            raise
        return self._as_turn(completion, settings)

    def _check_thought(self, completion: Completion) -> None:
        """Raise Quarantined for a thought that is surely longer than the server was told to let it become."""
        budget, least = self._params.thinking_budget, thought_at_least(completion)
        if budget is not None and least > budget:
            reason = f"a thought of {least} tokens or more, though its budget is {budget}: the server does not keep it"
            raise Quarantined(SERVICE, reason, completion.body)

    def _check_ids(self, completion: Completion) -> None:
        """Raise Quarantined for an id that the served model's tokenizer does not have."""
        size, largest = self._vocabulary.size if self._vocabulary else None, max(completion.token_ids or (0,))
        if size is not None and largest >= size:
            reason = f"token {largest}, though serving.tokenizer has {size}: it is another model's"
            raise Quarantined(SERVICE, reason, completion.body)

    def _keep(self, error: ServiceError) -> None:
        """Keep the reply, if one came, and let the error say where."""
        if error.reply:
            path = write_bytes(self._kept / f"{sha256_hex(error.reply)[:16]}.reply", error.reply)
            said = f": {problem_of(error.reply)}".rstrip(": ") if isinstance(error, Overloaded) else ""
            kept = "" if isinstance(error, Rejected) else f"; the reply is kept as {path}"
            error.reason += said + kept

    def _as_turn(self, completion: Completion, settings: dict[str, Any]) -> Turn:
        sent = {"max_tokens": self._params.max_tokens, "temperature": self._params.temperature, **settings}
        sampling = {
            "server": self._served.base,
            "model": self._served.model,
            "answered": completion.model,
            **{name: value for name, value in sent.items() if name not in _NOT_RECORDED},
            **({"logprobs_mode": self._params.logprobs} if completion.logprobs else {}),
        }
        named = self._vocabulary.name if self._vocabulary else self._served.vocabulary
        return Turn(
            text=turn_text(completion),
            token_ids=completion.token_ids,
            vocabulary=named if completion.token_ids else "",
            logprobs=completion.logprobs,
            top_logprobs=completion.top_logprobs,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            sampling_json=json.dumps(sampling),
        )


@asynccontextmanager
async def turn_deadline(seconds: float) -> AsyncIterator[None]:
    """Raise ServiceError where what is inside takes longer."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise ServiceError(SERVICE, f"no turn within {seconds:g} s") from error


def limit_of(params: ServingParams) -> Literal["max_tokens", "max_completion_tokens"]:
    """What the server calls the bound on a reply."""
    return "max_tokens" if params.dialect == "vllm" else "max_completion_tokens"


def thought_at_least(completion: Completion) -> int:
    """Tokens that a reply's thought surely has; below nought where nothing is sure.

    A token of the rest has a byte at least, so what the rest cannot account for was thought.
    """
    return completion.completion_tokens - _longest_rest(completion)


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
