"""How a policy on an OpenAI-compatible server is asked: section `serving` of `params.yaml`.

Everything that decides how a turn is sampled stands here and is sent with each request, so that neither a server's
defaults nor a model's name decide; what was sent is recorded with each turn.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from components.config.tools import ATTEMPTS

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Penalty = Annotated[float, Field(ge=-2.0, le=2.0)]


class ServingParams(BaseModel):
    """A policy `openai:URL#MODEL`, as teacher, under evaluation or in a single investigation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dialect: Literal["vllm", "openai"] = "vllm"
    """`vllm`: also the fields that vLLM adds (top_k, token ids, thinking); `openai`: standard fields alone."""
    calls: Literal["parsed", "text"] = "parsed"
    """`parsed`: the server reads the calls (vLLM's `--enable-auto-tool-choice`); `text`: this side reads them from the
    text, which needs a model that writes Qwen's grammar."""
    temperature: Annotated[float, Field(ge=0)] = 0.7
    top_p: Share = 0.95
    top_k: Annotated[int, Field(ge=0)] = 20
    """0 for no bound."""
    min_p: Share = 0.0
    presence_penalty: Penalty = 1.5
    frequency_penalty: Penalty = 0.0
    repetition_penalty: Annotated[float, Field(gt=0)] = 1.0
    max_tokens: Annotated[int, Field(ge=1)] = 16384
    """Longest turn, its thought included; a turn that reaches it is not used."""
    thinking: bool = True
    """Whether the chat template lets the model think first."""
    thinking_budget: Annotated[int, Field(ge=0)] | None = None
    """Tokens after which the server ends a thought (vLLM's `--reasoning-parser` and `--reasoning-config`); None for
    `max_tokens` alone."""
    keep_thoughts: bool = True
    """Whether earlier thoughts are sent again with each turn, as the local policies and the trainer see them."""
    isolate_cache: bool = True
    """Let no investigation read from a server's cache what another has left there (vLLM's `cache_salt`)."""
    capture: bool = True
    """Ask for token ids and log-probabilities."""
    top_logprobs: Annotated[int, Field(ge=0, le=20)] = 0
    """Candidates that are kept with each token."""
    logprobs: Literal["unlabelled", "raw_logprobs", "processed_logprobs"] = "unlabelled"
    """What the server's log-probabilities are, as it was started (vLLM's `--logprobs-mode`), since no reply says it:
    `raw_logprobs`, before penalties, temperature and a grammar's mask, or `processed_logprobs`, after them. Recorded
    with each turn; what is unlabelled is never learned from as a distribution."""
    tokenizer: str | None = None
    """Folder with the served model's tokenizer, relative to the checkout. It says which vocabulary the token ids are
    of, so that a student with the same one learns from the ids as they were sampled; None leaves them the server's
    own, and a student encodes the text."""
    concurrency: Annotated[int, Field(ge=1)] = 8
    """Requests in flight at once."""
    request_timeout_s: Annotated[float, Field(gt=0)] = 600.0
    """Deadline of one request."""
    turn_timeout_s: Annotated[float, Field(gt=0)] = 7200.0
    """Deadline of one turn, with every request for it, the pauses between them and its wait for a place."""

    @property
    def sampling(self) -> dict[str, Any]:
        """What episodes depend on, as JSON values: everything but how fast and how patiently a server is asked."""
        return {name: value for name, value in self.model_dump(mode="json").items() if name not in _PACE}

    @model_validator(mode="after")
    def _deadlines_nest(self) -> Self:
        if not ATTEMPTS * self.request_timeout_s < self.turn_timeout_s:
            raise ValueError(
                f"deadlines must nest: {ATTEMPTS} x request_timeout_s < turn_timeout_s, "
                f"not {ATTEMPTS} x {self.request_timeout_s:g}, {self.turn_timeout_s:g}"
            )
        return self

    @model_validator(mode="after")
    def _answers_fit_behind_thoughts(self) -> Self:
        if self.thinking_budget is not None and self.thinking_budget >= self.max_tokens:
            raise ValueError(
                f"thinking_budget must be below max_tokens, not {self.thinking_budget} of {self.max_tokens}"
            )
        return self


_PACE = frozenset({"concurrency", "request_timeout_s", "turn_timeout_s"})
SAMPLING = tuple(f"serving.{name}" for name in ServingParams.model_fields if name not in _PACE)
"""The settings that episodes of a served model depend on, as `section.key`."""
