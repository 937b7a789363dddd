"""Whether a server does what a policy on it will ask, found out by a few requests before anything is built on it.

Asked are its list of models, one turn that has to call a tool, and where thoughts have a budget one turn for each of
two very small ones: an engine that does not know the field leaves it unheard. What cannot be known of a server is
passed over; what surely is wrong ends the work before it begins.
"""

import io
import json
from collections.abc import Callable
from typing import NamedTuple

from PIL import Image
from pydantic import SecretStr

from components.agent.codec import parse_turn
from components.config.served import ServedModel
from components.config.serving import ServingParams
from components.config.settings import variable
from components.errors import PreflightError
from components.policies.chatting import chat_messages
from components.policies.openai import limit_of, request_settings, thought_at_least
from components.records.base import Record
from components.records.conversation import Conversation, Message, ToolSchema
from components.records.episode import Turn
from components.tools.clients.chat import ChatClient, tool_tariff
from components.tools.clients.completions import Completion, unchecked_completion
from components.tools.clients.errors import Overloaded, Quarantined, Rejected, ServiceError
from components.tools.clients.http import Requester
from components.tools.clients.models import model_names

BUDGETS = (1, 3)
"""Tokens of thought that an engine which keeps to a budget is asked to end a thought at."""
LIST_TIMEOUT_S = 30.0
"""Deadline of the list of models: no model has to think for it."""
LONGEST_THOUGHT = 600
"""Tokens of a reply to that: what an engine that does not keep to it costs, at most."""
_TOOL = ToolSchema(
    "note",
    "Note a word.",
    {"type": "object", "properties": {"word": {"type": "string", "description": "The word."}}, "required": ["word"]},
)
_CALL = "Call the tool `note` with the word `ready`. Say nothing else."
_THINK = "Add up the prime numbers between 100 and 200, one after another, and check the sum. Then say the sum alone."
_WORDS = 64
"""An engine may close a thought with a sentence of its own, so many words long at most."""


class Checked(Record):
    """What was found out."""

    server: str
    model: str
    answered: str
    """What the server calls the model that answered."""
    found: tuple[str, ...]
    """What has been made sure of, in a few words each."""
    requests: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def sentence(self) -> str:
        """All of it on one line."""
        return f"{self.model}: {', '.join(self.found)}"


class _Asked(NamedTuple):
    """A question, and what it may cost."""

    text: str
    tools: tuple[ToolSchema, ...]
    max_tokens: int | None = None
    """At most; None for what any turn may."""


class ServerCheck:
    """Asks one server about one model.

    Args:
        served: where and what.
        params: how the policy will ask.
        key: as `ServiceSettings` holds it; None where the server asks for none.
        charge: is told of every reply, those included that may not be used.

    """

    def __init__(
        self,
        served: ServedModel,
        params: ServingParams,
        key: SecretStr | None,
        charge: Callable[[Turn | Exception], None] = lambda reply: None,
    ) -> None:
        self._served = served
        self._params = params
        self._key = key
        self._charge = charge
        self._replies: list[Turn] = []
        self._found: list[str] = []

    async def check(self) -> Checked:
        """What was found out.

        Raises:
            PreflightError: the server is not there, or surely does not do what it is going to be asked.

        """
        async with Requester(None, self._params.request_timeout_s) as requester:
            client = ChatClient(
                requester,
                self._served.base,
                self._served.model,
                self._key,
                limit_of(self._params),
                tool_tariff(self._served.name),
            )
            try:
                await self._check_model()
                answered = await self._check_call(client)
                if self._params.thinking_budget is not None and self._params.thinking:
                    await self._check_budget(client)
            except ServiceError as error:
                raise self._refusal(error.reason, _mend(error)) from error
        return Checked(
            server=self._served.base,
            model=self._served.model,
            answered=answered,
            found=tuple(self._found),
            requests=len(self._replies),
            prompt_tokens=sum(reply.prompt_tokens for reply in self._replies),
            completion_tokens=sum(reply.completion_tokens for reply in self._replies),
        )

    async def _check_model(self) -> None:
        async with Requester(None, min(LIST_TIMEOUT_S, self._params.request_timeout_s)) as requester:
            names = await model_names(requester, self._served.base, self._key)
        if names is None:
            return
        if self._served.model not in names:
            has = ", ".join(f"`{name}`" for name in names[:5]) or "none at all"
            raise self._refusal("it serves no model of that name", f"it has {has}")
        self._found.append("model known")

    async def _check_call(self, client: ChatClient) -> str:
        reply = await self._ask(client, _Asked(_CALL, (_TOOL,)), self._params)
        self._check_tool_call(reply)
        self._check_thought(reply)
        self._check_capture(reply)
        return reply.model

    def _check_tool_call(self, reply: Completion) -> None:
        if self._params.calls == "text":
            if parse_turn(f"{reply.reasoning}</think>{reply.content.rpartition('</think>')[2]}").call is None:
                raise self._refusal(
                    "it wrote no call in Qwen's grammar", "set serving.calls to parsed, or take a model that does"
                )
            self._found.append("calls written in the text")
            return
        if not reply.tool_calls:
            what = (
                "it left a call in the text"
                if "<tool_call" in reply.content
                else "it made no call though it was asked to"
            )
            mend = "start it with its tool parser (vLLM: --enable-auto-tool-choice --tool-call-parser qwen3_coder)"
            raise self._refusal(what, f"{mend}, or set serving.calls to text")
        if not _is_object(reply.tool_calls[0].arguments):
            raise self._refusal("it gave a call whose arguments are no JSON object", "take the model's own tool parser")
        self._found.append("calls parsed")

    def _check_thought(self, reply: Completion) -> None:
        tagged = "</think>" in reply.content
        if self._params.calls == "parsed" and tagged:
            mend = "start it with its reasoning parser (vLLM: --reasoning-parser qwen3)"
            raise self._refusal("it left the thought in the text", mend)
        if not self._params.thinking and reply.reasoning.strip():
            raise self._refusal("it thinks although serving.thinking is false", "set serving.thinking to true")
        if reply.reasoning:
            self._found.append("thoughts apart")

    def _check_capture(self, reply: Completion) -> None:
        if not self._params.capture or self._params.dialect == "openai":
            return
        if reply.token_ids is None or reply.logprobs is None:
            lacks = " and ".join(
                name
                for name, told in (("token ids", reply.token_ids), ("log-probabilities", reply.logprobs))
                if told is None
            )
            raise self._refusal(f"it tells no {lacks}", "take a newer engine, or set serving.capture to false")
        self._found.append("token ids and log-probabilities")

    async def _check_budget(self, client: ChatClient) -> None:
        for budget in BUDGETS:
            asked = self._params.model_copy(update={"thinking_budget": budget})
            reply = await self._ask(client, _Asked(_THINK, (), LONGEST_THOUGHT), asked, cut_off=True)
            least = max(thought_at_least(reply), len(reply.reasoning.split()) - _WORDS)
            if least > budget:
                raise self._refusal(
                    f"it thought for {least} tokens or more with a budget of {budget}",
                    "take an engine that knows thinking_token_budget (vLLM: --reasoning-parser, --reasoning-config), "
                    "or set serving.thinking_budget to null",
                )
        self._found.append("budgets of thoughts kept")

    async def _ask(
        self, client: ChatClient, asked: _Asked, params: ServingParams, *, cut_off: bool = False
    ) -> Completion:
        """The reply, without randomness where the server can do without; `cut_off` takes one that was, too."""
        conversation = Conversation(
            messages=(Message("user", asked.text, images=("",)),),
            tools=asked.tools,
            offered=asked.tools,
            stage="investigate",
            seed=0,
        )
        try:
            reply = await client.complete(
                chat_messages(conversation, lambda _: _picture(), thoughts=True, parsed=params.calls == "parsed"),
                max_tokens=min(asked.max_tokens or params.max_tokens, params.max_tokens),
                # A server of the other dialect may know models that take no temperature but their own.
                temperature=0.0 if params.dialect == "vllm" else params.temperature,
                extra=request_settings(params, conversation),
            )
        except Quarantined as error:
            self._charge(error)
            reply_cut_off = unchecked_completion(error.reply) if cut_off else None
            if reply_cut_off is None or reply_cut_off.finish_reason != "length":
                raise
            reply = reply_cut_off
        else:
            self._charge(_counted(reply))
        self._replies.append(_counted(reply))
        return reply

    def _refusal(self, what: str, mend: str) -> PreflightError:
        return PreflightError(f"{self._served.model} at {self._served.base} cannot be used: {what}; {mend}")


def _counted(reply: Completion) -> Turn:
    return Turn(text="", prompt_tokens=reply.prompt_tokens, completion_tokens=reply.completion_tokens)


def _mend(error: ServiceError) -> str:
    if isinstance(error, Rejected):
        return f"look at {variable('openai_key')}"
    if isinstance(error, Overloaded):
        return "see whether the server runs, and whether the address ends with /v1"
    return "look at section `serving` of params.yaml, and at how the server was started"


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text or "{}"), dict)
    except (ValueError, RecursionError):
        return False


def _picture() -> bytes:
    """A small picture, since a model that takes none cannot investigate."""
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), "white").save(buffer, format="PNG")
    return buffer.getvalue()
