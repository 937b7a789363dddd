"""The stages: what each calls, reads and is made of. `dvc.yaml` says the same for the data stages; a test compares."""

from importlib import import_module
from typing import Any, NamedTuple

from components.config.serving import SAMPLING
from components.errors import UsageError
from components.rollout.teacher_code import CODE


class StageSpec(NamedTuple):
    """One stage of the chain."""

    name: str
    function: str
    """`module:function`, imported when the stage runs."""
    sections: tuple[str, ...]
    """Sections of `params.yaml` it depends on, and single keys of others."""
    code: tuple[str, ...]
    """Source folders and files it depends on."""
    inputs: tuple[str, ...]
    """Files and folders it reads."""
    outputs: tuple[str, ...]
    kept: tuple[str, ...] = ()
    """Folders it reads that no stage makes: what people decided, kept in git."""
    in_dvc: bool = True
    """Whether DVC decides when it runs; training and evaluation keep a manifest of their own."""
    summary: str = ""

    def load(self) -> Any:
        """The stage's function."""
        module, _, name = self.function.partition(":")
        return getattr(import_module(module), name)


STAGES: tuple[StageSpec, ...] = (
    StageSpec(
        "world",
        "components.curation.build:build_world",
        ("world",),
        ("components/curation", "components/records", "components/tools/pages", "components/world"),
        (),
        ("data/web", "data/private/facts.json"),
        summary="draw the closed world: facts, pages, pictures",
    ),
    StageSpec(
        "benchmark",
        "components.curation.build:build_benchmark",
        ("world", "benchmark", "tools", "agent"),
        (
            "components/agent",
            "components/curation",
            "components/policies/reading.py",
            "components/records",
            "components/tools",
            "components/world",
        ),
        ("data/web", "data/private/facts.json"),
        ("data/candidates", "data/private/candidates"),
        summary="render and alter pictures, screen them, split them",
    ),
    StageSpec(
        "panel",
        "components.release.stage:release_candidates",
        ("panel",),
        (
            "components/agent",
            "components/curation/transfer",
            "components/evaluation",
            "components/records",
            "components/release",
            "components/review",
            "components/rollout",
            "components/tools",
            "components/world",
        ),
        ("data/web", "data/candidates", "data/private/candidates", "reports/data/benchmark.json"),
        ("data/evilens_f", "data/private/gold", "data/private/release"),
        kept=("reviews/cases",),
        summary="let reviewers decide on each candidate, and release what they take",
    ),
    StageSpec(
        "episodes",
        "components.rollout.teacher:collect_teacher",
        ("episodes", "agent", "tools", *SAMPLING),
        CODE,
        ("data/web", "data/evilens_f"),
        ("data/episodes",),
        summary="investigate the training cases with the teacher",
    ),
    StageSpec(
        "review",
        "components.evaluation.review:review_episodes",
        ("review",),
        (
            "components/agent",
            "components/evaluation",
            "components/records",
            "components/rollout/cases.py",
            "components/tools",
        ),
        ("data/episodes", "data/evilens_f", "data/private/gold"),
        ("data/reviewed",),
        summary="admit the episodes worth learning from",
    ),
    StageSpec(
        "reroll",
        "components.evaluation.reroll:reroll_cases",
        ("episodes", "agent", "tools", "review", "reroll", *SAMPLING),
        tuple(sorted((*CODE, "components/evaluation"))),
        ("data/web", "data/episodes", "data/reviewed", "data/evilens_f", "data/private/gold"),
        ("data/rerolled",),
        summary="investigate again the cases without an admitted episode",
    ),
    StageSpec(
        "policy",
        "components.training.base:build_policy",
        ("policy", "drills"),
        ("components/agent", "components/policies", "components/records", "components/tools", "components/training"),
        ("data/reviewed", "data/rerolled"),
        ("models/base",),
        summary="make the student before fine-tuning, and its tokenizer",
    ),
    StageSpec(
        "sft-rows",
        "components.training.sft_rows:build_sft_rows",
        ("policy", "sft_rows"),
        ("components/agent", "components/policies", "components/records", "components/tools", "components/training"),
        ("data/reviewed", "data/rerolled", "data/episodes", "data/evilens_f", "data/web", "models/base"),
        ("data/sft",),
        summary="make training rows of the reviewed episodes",
    ),
    StageSpec(
        "sft",
        "components.training.sft:train_sft",
        ("policy", "sft_rows", "sft", "agent"),
        ("components/agent", "components/policies", "components/records", "components/tools", "components/training"),
        ("data/sft", "data/episodes", "data/rerolled", "data/evilens_f", "models/base"),
        ("models/sft",),
        in_dvc=False,
        summary="fine-tune the student on training rows",
    ),
    StageSpec(
        "evaluate",
        "components.evaluation.stage:evaluate",
        ("world", "tools", "agent", "policy", "evaluation", *SAMPLING),
        (
            "components/agent",
            "components/evaluation",
            "components/policies",
            "components/records",
            "components/rollout",
            "components/tools",
            "components/world",
        ),
        ("data/web", "data/evilens_f", "data/private/gold", "models/base", "models/sft"),
        ("reports/evaluation",),
        in_dvc=False,
        summary="investigate and judge the test cases",
    ),
)
"""In the order of the chain."""


def find_stage(name: str) -> StageSpec:
    """The stage of that name; raises UsageError, which lists them, when there is none."""
    for spec in STAGES:
        if spec.name == name:
            return spec
    raise UsageError(f"there is no stage `{name}`; the stages are {', '.join(spec.name for spec in STAGES)}")
