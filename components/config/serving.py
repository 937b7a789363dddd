"""How a policy on an OpenAI-compatible server is asked: section `serving` of `params.yaml`.

Everything that decides how a turn is sampled stands here and is sent with each request, so that neither a server's
defaults nor a model's name decide; what was sent is recorded with each turn.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Penalty = Annotated[float, Field(ge=-2.0, le=2.0)]


class ServingParams(BaseModel):
    """A policy `openai:URL#MODEL`; no stage depends on it."""

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
    """Tokens after which the server ends a thought (vLLM's `--reasoning-parser`); None for `max_tokens` alone."""
    keep_thoughts: bool = True
    """Whether earlier thoughts are sent again with each turn, as the local policies and the trainer see them."""
    isolate_cache: bool = True
    """Let no investigation read from a server's cache what another has left there (vLLM's `cache_salt`)."""
    capture: bool = True
    """Ask for token ids and log-probabilities."""
    top_logprobs: Annotated[int, Field(ge=0, le=20)] = 0
    """Candidates that are kept with each token."""
    concurrency: Annotated[int, Field(ge=1)] = 8
    """Requests in flight at once."""
    request_timeout_s: Annotated[float, Field(gt=0)] = 600.0
    """Deadline of one request."""

    @model_validator(mode="after")
    def _answers_fit_behind_thoughts(self) -> Self:
        if self.thinking_budget is not None and self.thinking_budget >= self.max_tokens:
            raise ValueError(
                f"thinking_budget must be below max_tokens, not {self.thinking_budget} of {self.max_tokens}"
            )
        return self
