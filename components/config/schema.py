"""The schema of `params.yaml`: one section a stage, every knob a field with its meaning under it."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from components.config.served import SCRIPTED, ServedName, TeacherName
from components.config.serving import ServingParams
from components.config.tools import PriceParams, ToolParams

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Section(BaseModel):
    """A frozen section; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class WorldParams(Section):
    """Stage `world`: the closed world that stands in for the web."""

    seed: int = 7
    """Everything in the world follows from it."""
    train_events: Count = 240
    """Dated events whose pictures may be learned from."""
    test_events: Count = 60
    """Dated events kept for evaluation; none of their people, venues or pages occurs in training."""
    near_misses: Annotated[int, Field(ge=0)] = 1
    """Earlier editions of each event, with another date, venue and host: wrong search results."""
    circulating_share: Share = 0.5
    """Share of events of which a picture circulates on a social site, true or with one thing wrong. More than are
    collected, so that one which cannot be read has a substitute."""
    picture_width: Annotated[int, Field(ge=240)] = 320
    """Pixels."""
    picture_height: Annotated[int, Field(ge=180)] = 240
    """Pixels."""


class BenchmarkParams(Section):
    """Stage `benchmark`: candidates for EviLens-F, pictures of the world's events, faithful or altered."""

    seed: int = 11
    images_per_event: Count = 2
    """Candidate pictures per event, before screening."""
    supported_share: Share = 0.3
    """Share of faithful renderings; the rest is spread evenly over the error types."""
    web_share: Share = 0.2
    """Share of candidates collected from the web, where they circulate; the rest is constructed."""
    untitled_share: Share = 0.15
    """Share of pictures without a title, whose event is found by reverse image search only."""


class PanelParams(Section):
    """Stage `panel`: two reviewers and a third decide on each candidate; what they take is released."""

    reviewers: Literal["scripted", "people"] = "scripted"
    """`scripted`: programs with known error rates stand in; `people`: what `eviflow data review` has recorded."""
    seed: int = 31
    """Which candidates scripted reviewers err on."""


class AgentParams(Section):
    """The investigation loop."""

    action_budget: Count = 24
    """Executed tool calls in one investigation."""
    corrections_per_stage: Count = 4
    """Refused turns before a stage is given up."""
    control_packet: bool = False
    """Tell the policy with each result what it may cite, what it has used and what is left."""


class EpisodeParams(Section):
    """Stage `episodes`: teacher investigations of the training cases."""

    policy: TeacherName = SCRIPTED
    """Who investigates: `scripted`, or a model on a server, `openai:URL#MODEL`, asked as section `serving` says."""
    seed: int = 13
    rollouts_per_case: Count = 2
    """Independent investigations of each case."""
    concurrency: Count = 64
    """Investigations in flight at once."""


class RolloutParams(Section):
    """How investigations are run; no stage depends on it."""

    executor: Literal["threads", "ray"] = "threads"
    """`threads`: in the stage's process; `ray`: by the workers of a Ray cluster, which share the checkout's disk."""
    shards: Count = 8
    """Parts of a rollout that begins, each with ledgers and one writer; what Ray's workers take one after another."""
    attempts: Count = 2
    """How often an episode may fail, with the same seed, before it is recorded as `policy_error`."""
    drain_s: Annotated[float, Field(ge=0)] = 300.0
    """Seconds that investigations in flight are given when a stage is asked to end."""
    ray_address: str = ""
    """Of a running cluster, `ray://HOST:10001` or `auto`; empty for one of its own, on this machine."""
    ray_workers: Count = 2
    """Shards that are worked on at once on a cluster of its own."""


class BudgetLimit(Section):
    """What one stage may spend."""

    usd: Annotated[float, Field(ge=0)] | None
    calls: Annotated[int, Field(ge=0)] | None

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return self.usd is not None or self.calls is not None


class BudgetParams(Section):
    """Where a stage stops, to go on when its budget is raised; null for nowhere. No stage depends on it."""

    episodes_usd: Annotated[float, Field(ge=0)] | None = None
    """US dollars that vendors want, by `prices`; the closed world wants none."""
    episodes_calls: Annotated[int, Field(ge=0)] | None = None
    """Requests that are sent to services, repeated ones and the closed world's included."""
    evaluation_usd: Annotated[float, Field(ge=0)] | None = None
    """All systems together."""
    evaluation_calls: Annotated[int, Field(ge=0)] | None = None

    @property
    def episodes(self) -> BudgetLimit:
        """Of stages `episodes` and `reroll` together."""
        return BudgetLimit(usd=self.episodes_usd, calls=self.episodes_calls)

    @property
    def evaluation(self) -> BudgetLimit:
        """Of stage `evaluate`."""
        return BudgetLimit(usd=self.evaluation_usd, calls=self.evaluation_calls)


class ReviewParams(Section):
    """Stage `review`: which teacher episodes are learned from."""

    per_case: Count = 2
    """Admitted episodes kept for each case, shortest first."""


class RerollParams(Section):
    """Stage `reroll`: cases without an admitted episode are investigated again."""

    attempts: Annotated[int, Field(ge=0, le=20)] = 1
    """Further phases at most; none for 0."""


class PolicyParams(Section):
    """Stage `policy`: the student before fine-tuning, its tokenizer and its chat template."""

    seed: int = 17
    vocab_size: Annotated[int, Field(ge=512)] = 2560
    hidden_size: Count = 128
    layers: Count = 3
    heads: Count = 4
    intermediate_size: Count = 128
    vision_depth: Count = 2
    vision_hidden_size: Count = 64
    vision_heads: Count = 4
    image_pixels: Count = 30720
    """Pixels a picture is scaled down to before the vision tower sees it."""
    max_length: Count = 1536
    """Longest episode in tokens; a longer one is rejected and counted, never cut."""


class OptimizerParams(Section):
    """What every training loop shares."""

    learning_rate: Annotated[float, Field(gt=0)] = 4e-3
    """AdamW's, for embeddings, norms and biases."""
    muon_learning_rate: Annotated[float, Field(gt=0)] = 2e-2
    """Muon's, for weight matrices."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    threads: Count = 2
    """CPU threads of torch."""


class DrillParams(OptimizerParams):
    """Drills in copying and comparing, in stage `policy`: they stand in for a large model's pre-training."""

    seed: int = 29
    copy_steps: Annotated[int, Field(ge=0)] = 170
    """Optimizer steps of copying alone."""
    compare_steps: Annotated[int, Field(ge=0)] = 200
    """Optimizer steps that follow, two thirds comparing."""
    batch_size: Count = 32
    """Sequences per step."""
    long_steps: Annotated[int, Field(ge=0)] = 140
    """... that follow, on sequences as long as an episode."""
    length: Count = 48
    """Tokens that are said twice in a copying sequence."""
    long_length: Count = 480
    """Tokens of a long sequence, at least twice `length`."""

    @property
    def steps(self) -> int:
        """Optimizer steps in all."""
        return self.copy_steps + self.compare_steps + self.long_steps


class SftRowsParams(Section):
    """Stage `sft-rows`: reviewed episodes as token ids and weights."""

    seed: int = 37
    """Which quick episodes are kept."""
    tool_call_weight: Annotated[float, Field(ge=0)] = 2.0
    """Loss weight of tokens in tool calls, tags included."""
    report_weight: Annotated[float, Field(ge=0)] = 2.0
    """Loss weight of tokens in the final report, tags included."""
    reasoning_weight: Annotated[float, Field(ge=0)] = 1.0
    """Loss weight of other tokens the policy writes."""
    quick_share: Share = 1.0
    """Share of quick episodes that is learned from: EviRover keeps a part of them, so that a small model does not
    learn to answer without evidence, and may where it knows."""
    quick_calls: Annotated[int, Field(ge=0)] = 1
    """An episode with at most so many executed tool calls is quick."""
    action_only: bool = False
    """Learn also from episodes that have a call without a thought. They are written apart either way."""


class SftParams(OptimizerParams):
    """Stage `sft`: supervised fine-tuning on the rows of stage `sft-rows`."""

    seed: int = 19
    steps: Count = 880
    """Optimizer steps."""
    batch_size: Count = 4
    """Episodes per optimizer step."""
    warmup_share: Share = 0.05
    """Share of steps over which the learning rate rises; it falls to zero over the rest."""
    renaming: bool = True
    """Swap names and numbers consistently within an episode each time it is used, so that none is learned by heart."""
    checkpoint_steps: Count = 100
    """Optimizer steps between checkpoints."""


class EvaluationParams(Section):
    """Stage `evaluation`: investigations of the test cases, judged."""

    seed: int = 23
    served: ServedName | None = None
    """A model on a server, `openai:URL#MODEL`, which investigates too, asked as section `serving` says."""
    concurrency: Count = 120
    """Investigations in flight at once."""
    max_new_tokens: Count = 160
    """Longest turn of a local policy, in tokens."""
    untrained_max_new_tokens: Count = 48
    """The same for an untrained policy, which rarely stops by itself."""
    bootstrap_samples: Count = 2000
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95


class TrackingParams(Section):
    """Where numbers, models and traces go."""

    experiment: str = "eviflow"
    model_name: str = "eviscene-student"
    """Name of the registered model."""


class Params(Section):
    """All of `params.yaml`."""

    world: WorldParams = WorldParams()
    benchmark: BenchmarkParams = BenchmarkParams()
    panel: PanelParams = PanelParams()
    tools: ToolParams = ToolParams()
    prices: PriceParams = PriceParams()
    budget: BudgetParams = BudgetParams()
    agent: AgentParams = AgentParams()
    serving: ServingParams = ServingParams()
    rollout: RolloutParams = RolloutParams()
    episodes: EpisodeParams = EpisodeParams()
    review: ReviewParams = ReviewParams()
    reroll: RerollParams = RerollParams()
    policy: PolicyParams = PolicyParams()
    drills: DrillParams = DrillParams()
    sft_rows: SftRowsParams = SftRowsParams()
    sft: SftParams = SftParams()
    evaluation: EvaluationParams = EvaluationParams()
    tracking: TrackingParams = TrackingParams()

    def on_world(self) -> Self:
        """The same with tools that reach the closed world alone: it is built and checked without the network."""
        alone = {"transport": "world", "perception": "pixels"}
        return self.model_copy(update={"tools": self.tools.model_copy(update=alone)})
