"""One investigation of one case by one policy: the record every later stage reads and writes."""

from enum import StrEnum
from typing import Literal

from components.records.base import Record
from components.records.case import Case, Verdict
from components.records.usage import Usage


class FailureClass(StrEnum):
    """Why an observation is an error. An outage reads differently from an empty result."""

    MODEL = "model"
    """The call itself is wrong: unknown tool, bad arguments, a duplicate."""
    INFRASTRUCTURE = "infrastructure"
    """A service could not be reached or broke."""
    EMPTY_RESULT = "empty_result"
    """The service answered that there is nothing."""
    BUDGET = "budget"
    """The tool's or the episode's limit is reached."""
    POLICY = "policy"
    """The source policy forbids it."""


class Termination(StrEnum):
    """How an episode ended."""

    FINISHED = "finished"
    """The policy called finish and wrote a valid report."""
    BUDGET = "budget"
    """All actions were used; the report followed."""
    PROTOCOL_FAILURE = "protocol_failure"
    """Too many malformed or refused turns in one stage; there is no report."""
    POLICY_ERROR = "policy_error"
    """The policy could not produce a turn."""


class ToolCall(Record):
    """A call as parsed from a turn."""

    name: str
    arguments_json: str
    """A JSON object as text, so that no table format can add or drop keys."""


class Turn(Record):
    """What a policy produced in one go."""

    text: str
    """Derived from `token_ids` where there are any, without the stop token."""
    token_ids: tuple[int, ...] | None = None
    """Sampled ids, stop token included; None for a policy that does not sample tokens."""
    vocabulary: str = ""
    """Which vocabulary these are of: the digest of a tokenizer, or the server and model that told them. Empty where
    nobody knows, or where there are none."""
    logprobs: tuple[float, ...] | None = None
    """Natural log-probability of each sampled id."""
    top_logprobs: tuple[tuple[tuple[int | str, float], ...], ...] | None = None
    """Of each sampled id, the candidates that a server named and their log-probabilities, likeliest first: a
    candidate's id, or its text where the server does not tell ids. None where none were asked for."""
    finish_reason: str = "stop"
    """`stop` or `length`."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """As a server counts them that gives no ids; whoever wants the number asks `output_tokens`."""
    sampling_json: str = "{}"
    """How a server was asked: its address, the model, and every setting as it was sent, as a JSON object."""

    @property
    def output_tokens(self) -> int:
        """Tokens that the policy wrote, stop token included; none for a policy that has no tokens."""
        return self.completion_tokens if self.token_ids is None else len(self.token_ids)


class Observation(Record):
    """What a tool returned. Only a successful observation may be cited."""

    observation_id: str
    """Unique in the episode, shown to the policy, cited by the report: "o1"."""
    tool: str
    status: str
    """`success` or `error`."""
    failure: FailureClass | None = None
    text: str
    """Exactly what the policy reads."""
    payload_json: str = "{}"
    """The typed result behind `text`, as a JSON object."""
    images: tuple[str, ...] = ()
    """SHA-256 of pictures shown to the policy after the text, all in the image bank."""
    source_url: str | None = None
    """The page or picture that was opened, if one was."""
    cache_hit: bool = False
    duration_s: float = 0.0
    usage: tuple[Usage, ...] = ()
    """What the call takes of services: each request once, however often it had to be sent and whoever answered it, so
    that a recording gives the same. What was really sent is kept apart, as `Charge`s."""

    @property
    def succeeded(self) -> bool:
        """Whether it may be cited."""
        return self.status == "success"


class StepKind(StrEnum):
    """What became of a turn."""

    ACTION = "action"
    """A tool was executed; counts against the budget."""
    CORRECTION = "correction"
    """The turn was refused without executing anything; the policy was told why."""
    FINISH = "finish"
    """The policy ended its investigation; not counted."""
    REPORT = "report"
    """The final report; not counted."""


class Step(Record):
    """One turn and what followed it."""

    index: int
    kind: StepKind
    turn: Turn
    thought: str = ""
    call: ToolCall | None = None
    observation: Observation | None = None
    """For an action."""
    feedback: str = ""
    """For a correction, and after finish: what the policy was told."""
    control: str = ""
    """For an action: what the policy was told of its budget along with the result; empty where it is not told."""
    masked: bool = False
    """Set by review: the turn stays as context but is not learned from."""


class Report(Record):
    """The policy's conclusion."""

    verdict: Verdict
    explanation: str
    cited: tuple[str, ...]
    """Observation ids of successful observations."""


class Episode(Record):
    """One whole investigation."""

    episode_id: str
    """`<case_id>--<policy>--s<seed>`."""
    case: Case
    policy: str
    seed: int
    exposed_tools: tuple[str, ...]
    tool_set: Literal["core", "full"] = "core"
    """Which schemas these had: a tool of the full set may take more arguments."""
    action_budget: int
    steps: tuple[Step, ...]
    report: Report | None
    termination: Termination
    started_at: str
    """UTC, ISO 8601."""
    duration_s: float

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Every observation, in order."""
        return tuple(step.observation for step in self.steps if step.observation is not None)

    @property
    def actions_used(self) -> int:
        """Executed tool calls."""
        return sum(step.kind is StepKind.ACTION for step in self.steps)
