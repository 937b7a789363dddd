"""How the agent's tools reach their services: section `tools` of `params.yaml`, and what the services cost."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

ATTEMPTS = 3
"""Requests that one call to a service may take; nothing else tries again."""

Seconds = Annotated[float, Field(gt=0)]
Price = Annotated[float, Field(ge=0)]


class ToolParams(BaseModel):
    """How the tools reach the services."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    transport: Literal["world", "live", "record", "replay"] = "world"
    """Who answers: the closed world, the vendors, the vendors with every answer kept, or what was kept."""
    recording: str = "recordings/first"
    """Folder of what `record` keeps and `replay` reads, relative to the checkout."""
    ocr_side: Annotated[int, Field(ge=1)] = 320
    """Longest side that text detection works on, pixels."""
    ocr_threads: Annotated[int, Field(ge=1)] = 2
    ocr_model: Literal["general", "accurate"] = "general"
    """Which of the vendor's two readers with places reads a picture's text."""
    request_timeout_s: Seconds = 20.0
    """Deadline of one request."""
    tool_timeout_s: Seconds = 600.0
    """Deadline of one tool call, with every request that it makes and its wait for a place at a service."""
    episode_timeout_s: Seconds = 7200.0
    """What the tool calls of one investigation may take together; then only finish remains."""
    upload_expires_s: Annotated[int, Field(ge=60, le=604_800)] = 600
    """How long the address of an uploaded picture works."""
    search_results: Annotated[int, Field(ge=1)] = 3
    """Rows of a search that the policy sees."""
    reader: Literal["jina", "direct"] = "jina"
    """Who reads pages: the vendor's reader, or this process, which fetches a page from its own server."""
    passage_chars: Annotated[int, Field(ge=1)] = 700
    """Longest passage of a page that the policy sees."""
    tool_set: Literal["core", "full"] = "core"
    """`core`: the nine tools with few arguments that the micro student learns; `full`: all thirteen of EviScene's, with
    all of their arguments."""
    perception: Literal["pixels", "model"] = "pixels"
    """Who looks at pictures and chooses passages: classical vision, or a vision-language model on a server."""
    perception_model: str = ""
    """The model's name on that server, whose address is `EVIFLOW_VISION_URL`."""
    perception_one_picture: bool = False
    """Whether that model takes one picture in a request; several are then laid out on a sheet."""
    perception_extra: dict[str, Any] = {}
    """Further fields of every request to it. A model that thinks would spend its few tokens on that: vLLM takes
    `{chat_template_kwargs: {enable_thinking: false}}`."""
    perception_timeout_s: Seconds = 90.0
    """Deadline of one request to it; three of them must fit into a tool call as well."""

    @model_validator(mode="after")
    def _looking_fits_into_a_call(self) -> Self:
        if ATTEMPTS * self.perception_timeout_s >= self.tool_timeout_s:
            raise ValueError(
                f"deadlines must nest: {ATTEMPTS} x perception_timeout_s < tool_timeout_s, "
                f"not {ATTEMPTS} x {self.perception_timeout_s:g}, {self.tool_timeout_s:g}"
            )
        return self

    @model_validator(mode="after")
    def _deadlines_nest(self) -> Self:
        if not ATTEMPTS * self.request_timeout_s < self.tool_timeout_s < self.episode_timeout_s:
            raise ValueError(
                f"deadlines must nest: {ATTEMPTS} x request_timeout_s < tool_timeout_s < episode_timeout_s, "
                f"not {ATTEMPTS} x {self.request_timeout_s:g}, {self.tool_timeout_s:g}, {self.episode_timeout_s:g}"
            )
        return self

    @model_validator(mode="after")
    def _recorded_pages_come_from_the_reader(self) -> Self:
        # What is fetched through the guard of addresses passes by the recording.
        if self.reader == "direct" and self.transport in ("record", "replay"):
            raise ValueError(f"reader `direct` cannot be used with transport `{self.transport}`; take reader `jina`")
        return self


class ModelPrice(BaseModel):
    """US dollars for a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input_usd: Price
    """... that are read, pictures included."""
    output_usd: Price
    """... that are written."""


class PriceParams(BaseModel):
    """List prices of the services, for estimates; no stage depends on them. What is billed, the vendors say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    as_of: str = "2025-06-30"
    """The day whose prices these are."""
    serper_credit_usd: Price = 0.001
    """Smallest package. A search takes one credit, a search by picture three."""
    jina_million_tokens_usd: Price = 0.05
    baidu_general_usd: Price = 0.002
    """A picture that is read."""
    baidu_accurate_usd: Price = 0.004
    upload_usd: Price = 0.00001
    """A picture that is stored, fetched and deleted."""
    models: dict[str, ModelPrice] = {}
    """Of language models that are paid for, by the policy's name, which may hold `*`; all others cost nothing."""
