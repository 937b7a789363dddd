"""How a local policy chooses its tokens."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class SamplingParams(BaseModel):
    """Bounds are taken in the order of the fields, each of what the one before has left; the likeliest always stays."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: Annotated[float, Field(ge=0)] = 0.0
    """0 takes the likeliest token, whatever the other settings."""
    top_k: Annotated[int, Field(ge=0)] = 0
    """Only so many likeliest tokens; 0 for no bound."""
    top_p: Share = 1.0
    """Only the fewest likeliest tokens that have this probability together."""
    min_p: Share = 0.0
    """Only tokens with at least this share of the likeliest one's probability."""
    top_logprobs: Annotated[int, Field(ge=0)] = 0
    """Candidates that are recorded with each token."""
