"""The tools of one investigation: what may be called now, what is refused, and what was found."""

import asyncio
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field, ValidationError

from components.errors import EviflowError
from components.records.case import Case
from components.records.conversation import ToolSchema
from components.records.episode import FailureClass, Observation, ToolCall
from components.records.image_bank import ImageBank
from components.tools import messages
from components.tools.base import Arguments, CaseState, Tool, ToolFailure, ToolResult, ToolSet, schema_of
from components.tools.memory import Before, Learned, Outcome, learn
from components.tools.metering import tallied

FINISH = "finish_investigation"
"""Ends an investigation; not executed, not counted, always offered."""


class FinishArguments(Arguments):
    """Why the investigation may end."""

    rationale: str = Field(min_length=1, description="Why the evidence is enough.")


FINISH_SCHEMA = schema_of(FINISH, "End the investigation; the report follows.", FinishArguments)


@dataclass(frozen=True)
class Accepted:
    """A call that may be executed; `tool` is None for finish."""

    tool: Tool | None
    arguments: Arguments


@dataclass(frozen=True)
class Refused:
    """A call that is not executed, and the sentence that says why."""

    sentence: str


class Toolbox:
    """Tools with the memory of one case.

    Args:
        case: the case under investigation.
        image: its picture, encoded.
        tools: everything that is exposed; an ablation leaves tools out here.
        bank: where pictures that tools return are kept.
        call_s: deadline of one call, seconds.
        episode_s: what all calls may take together, seconds.
        tool_set: which set the tools are of, for the record.

    """

    def __init__(
        self,
        case: Case,
        image: bytes,
        tools: Sequence[Tool],
        bank: ImageBank,
        *,
        call_s: float = math.inf,
        episode_s: float = math.inf,
        tool_set: ToolSet = "core",
    ) -> None:
        self.tool_set: ToolSet = tool_set
        self.state = CaseState(case, image)
        self._tools = {tool.name: tool for tool in tools}
        self._bank = bank
        self._call_s, self._episode_s = call_s, episode_s
        self.learned: Learned | None = None
        """What the last call has added to `state`; None before the first."""

    @property
    def out_of_time(self) -> bool:
        """Whether the calls have taken all the time that there was; only finish remains."""
        return self.state.seconds >= self._episode_s

    @property
    def limits(self) -> tuple[tuple[str, int, int], ...]:
        """Name, calls so far and most calls of each tool that was called and has a limit."""
        used = self.state.used
        return tuple((name, used[name], tool.limit) for name, tool in self._tools.items() if used[name] and tool.limit)

    @property
    def names(self) -> tuple[str, ...]:
        """Every exposed tool, finish last."""
        return (*self._tools, FINISH)

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """The schema of every exposed tool: the same all through the investigation."""
        return (*(_schema(tool) for tool in self._tools.values()), FINISH_SCHEMA)

    def exposed(self, actions_left: int) -> tuple[ToolSchema, ...]:
        """What may be called now: a tool at its limit is gone, and without actions only finish remains."""
        usable = [tool for tool in self._tools.values() if actions_left > 0 and self._within_limit(tool)]
        return (*(_schema(tool) for tool in usable), FINISH_SCHEMA)

    def check(self, call: ToolCall, actions_left: int) -> Accepted | Refused:
        """Whether `call` may be executed; changes nothing."""
        tool = self._tools.get(call.name)
        if call.name != FINISH and (tool is None or actions_left <= 0 or not self._within_limit(tool)):
            return Refused(messages.unknown_tool(call.name))
        kind = FinishArguments if tool is None else tool.arguments
        try:
            arguments = kind.model_validate_json(call.arguments_json)
        except ValidationError as error:
            return Refused(_first_problem(call.name, error))
        sentence = None if tool is None else self._refusal(tool, arguments)
        return Refused(sentence) if sentence else Accepted(tool, arguments)

    async def execute(self, accepted: Accepted, observation_id: str) -> Observation:
        """Run an accepted call; a tool's failure is an observation too."""
        tool = accepted.tool
        assert tool is not None, "finish is not executed"
        before = Before(self.state, tool.name)
        with tallied(tool.name) as tally:
            observation = await self._observe(tool, accepted.arguments, observation_id)
        self.learned = before.learned(self.state)
        return observation.model_copy(update={"usage": tally.usage})

    def recall(self, accepted: Accepted, outcome: Outcome) -> Observation:
        """Take what an accepted call had found before a kill; the tools stand as if they had been executed.

        Raises:
            EviflowError: it was another tool that had found it, or a picture of it is lost.

        """
        seen, tool = outcome.observation, accepted.tool
        if tool is None or tool.name != seen.tool or not all(digest in self._bank for digest in seen.images):
            raise EviflowError(f"what is kept of {seen.tool} ({seen.observation_id}) is not what was called for it")
        learn(self.state, tool.name, outcome.learned)
        self.learned = outcome.learned
        return seen

    async def _observe(self, tool: Tool, arguments: Arguments, observation_id: str) -> Observation:
        self.state.used[tool.name] += 1
        started = time.perf_counter()
        try:
            result = await self._within_time(tool, arguments)
        except ToolFailure as failure:
            if not failure.charged:
                self.state.used[tool.name] -= 1
            self._remember(tool, arguments, failure.failure)
            return self._failure(tool, failure, observation_id, time.perf_counter() - started)
        finally:
            self.state.seconds += time.perf_counter() - started
        self._remember(tool, arguments, None)
        self.state.offered.update(result.offered)
        return self._success(tool, result, observation_id, time.perf_counter() - started)

    async def _within_time(self, tool: Tool, arguments: Arguments) -> ToolResult:
        """The result, or a failure when the call's or the investigation's time is up."""
        seconds = min(self._call_s, self._episode_s - self.state.seconds)
        try:
            async with asyncio.timeout(seconds if seconds < math.inf else None):
                return await tool.run(arguments, self.state)
        except TimeoutError as error:
            payload = {"reason": f"no result within {seconds:g} s"}
            raise ToolFailure(FailureClass.INFRASTRUCTURE, messages.TOO_SLOW, payload) from error

    def _within_limit(self, tool: Tool) -> bool:
        return tool.limit is None or self.state.used[tool.name] < tool.limit

    def _refusal(self, tool: Tool, arguments: Arguments) -> str | None:
        key = tool.key(arguments)
        if key is not None and (tool.name, key) in self.state.asked:
            return {"visit": messages.VISITED, "compare_with_reference": messages.COMPARED}.get(
                tool.name, messages.DUPLICATE
            )
        return tool.refuse(arguments, self.state)

    def _remember(self, tool: Tool, arguments: Arguments, failure: FailureClass | None) -> None:
        """A call that met an outage may be repeated, every other one has its answer."""
        key = tool.key(arguments)
        if key is not None and failure is not FailureClass.INFRASTRUCTURE:
            self.state.asked.add((tool.name, key))

    def _success(self, tool: Tool, result: ToolResult, observation_id: str, seconds: float) -> Observation:
        return Observation(
            observation_id=observation_id,
            tool=tool.name,
            status="success",
            text=result.text,
            payload_json=json.dumps(dict(result.payload), ensure_ascii=False),
            images=tuple(self._bank.put(data) for data in result.images),
            source_url=result.source_url,
            duration_s=round(seconds, 6),
        )

    def _failure(self, tool: Tool, failure: ToolFailure, observation_id: str, seconds: float) -> Observation:
        return Observation(
            observation_id=observation_id,
            tool=tool.name,
            status="error",
            failure=failure.failure,
            text=failure.text,
            payload_json=json.dumps(failure.payload, ensure_ascii=False),
            images=tuple(self._bank.put(data) for data in failure.images),
            source_url=failure.source_url,
            duration_s=round(seconds, 6),
        )


def _schema(tool: Tool) -> ToolSchema:
    return schema_of(tool.name, tool.description, tool.arguments)


def _first_problem(tool: str, error: ValidationError) -> str:
    """The first thing wrong with the arguments, as one sentence."""
    problem = error.errors()[0]
    argument = str(problem["loc"][0]) if problem["loc"] else "arguments"
    if problem["type"] in ("missing", "string_too_short") and len(problem["loc"]) == 1:
        return messages.missing_argument(tool, argument)
    if problem["type"] == "extra_forbidden":
        return messages.surplus_argument(tool, argument)
    if argument in messages.BOX_ARGUMENTS:
        return messages.BOX_ARGUMENTS[argument]
    return messages.bad_argument(tool, argument)
