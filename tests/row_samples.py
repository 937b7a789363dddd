"""Episodes as a student writes them, and a checkout with them, a tiny student and nothing else."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from components.agent.codec import render_call, render_report
from components.agent.render import messages_of
from components.config.paths import Paths
from components.config.schema import PolicyParams
from components.policies.encoding import ChatEncoder
from components.policies.student import build_image_processor, build_student, load_processor, save_student
from components.policies.tokenizer import train_tokenizer
from components.records.case import Case, Verdict
from components.records.episode import Episode, Observation, Report, Step, StepKind, Termination, ToolCall, Turn
from components.records.image_bank import ImageBank, sha256_hex
from components.records.shards import write_episodes
from components.tools.registry import tool_names
from components.tools.toolbox import FINISH

TINY = PolicyParams(
    vocab_size=560, hidden_size=32, layers=2, heads=2, intermediate_size=64, vision_depth=1, vision_hidden_size=16,
    vision_heads=2, image_pixels=4096,
)  # fmt: skip
COLOURS = ("red", "green", "blue", "yellow")
SIZES = ((64, 64), (96, 64), (64, 96))


def picture(colour: str, size: tuple[int, int] = SIZES[0]) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, "PNG")
    return buffer.getvalue()


PICTURES = {(colour, size): picture(colour, size) for colour in COLOURS for size in SIZES}


def shown(colour: str, size: tuple[int, int] = SIZES[0]) -> str:
    """The hash of a picture of the bank."""
    return sha256_hex(PICTURES[colour, size])


def action(
    name: str,
    arguments: dict[str, str],
    told: str,
    thought: str = "look closer.",
    *,
    images: tuple[str, ...] = (),
    masked: bool = False,
    failed: bool = False,
    cache_hit: bool = False,
    token_ids: tuple[int, ...] | None = None,
    vocabulary: str = "",
) -> Step:
    """An executed call; index and observation id are given by `episode`."""
    call = ToolCall(name=name, arguments_json=json.dumps(arguments, ensure_ascii=False))
    status = "error" if failed else "success"
    found = Observation(observation_id="", tool=name, status=status, text=told, images=images, cache_hit=cache_hit)
    turn = Turn(text=render_call(thought, name, arguments), token_ids=token_ids, vocabulary=vocabulary)
    return Step(index=0, kind=StepKind.ACTION, turn=turn, thought=thought, call=call, observation=found, masked=masked)


def refused(thought: str = "try this.") -> Step:
    """A call of a tool that there is not, as review masks it."""
    turn = Turn(text=render_call(thought, "no_such_tool", {}))
    call = ToolCall(name="no_such_tool", arguments_json="{}")
    return Step(
        index=0, kind=StepKind.CORRECTION, turn=turn, thought=thought, call=call, feedback="no such tool", masked=True
    )


def episode(
    case_id: str,
    *steps: Step,
    cited: Sequence[str] = ("o1",),
    colour: str = "red",
    verdict: Verdict = Verdict.REFUTED,
    thought: str = "enough.",
) -> Episode:
    """An investigation that does `steps`, finishes and reports."""
    done, seen = [], 0
    for step in steps:
        found = step.observation
        if found is not None:
            seen += 1
            found = found.model_copy(update={"observation_id": f"o{seen}"})
        done.append(step.model_copy(update={"index": len(done), "observation": found}))
    rationale = {"rationale": "all seen"}
    call = ToolCall(name=FINISH, arguments_json=json.dumps(rationale))
    report = Report(verdict=verdict, explanation="count 8 vs 9* differs", cited=tuple(cited))
    turns = Turn(text=render_call(thought, FINISH, rationale)), Turn(text=render_report("report.", report))
    finish = Step(
        index=len(done), kind=StepKind.FINISH, turn=turns[0], thought=thought, call=call, feedback="Report now."
    )
    last = Step(index=len(done) + 1, kind=StepKind.REPORT, turn=turns[1], thought="report.")
    return Episode(
        episode_id=f"{case_id}--scripted--s0", case=Case(case_id=case_id, image_path="p", image_sha256=shown(colour)),
        policy="scripted", seed=0, exposed_tools=(*tool_names("core"), FINISH), action_budget=24,
        steps=(*done, finish, last), report=report, termination=Termination.FINISHED, started_at="", duration_s=0.0,
    )  # fmt: skip


def counted(number: int = 8, **options: bool) -> Step:
    """A count of kites."""
    return action("count_objects", {"target_object": "kite"}, f"kite: {number}", "count each kite.", **options)  # type: ignore[arg-type]


def searched(query: str = "Harvest Gala", told: str = "Harvest Gala 2031") -> Step:
    """A search for a title."""
    return action("text_search", {"query": query}, told, f"search {query}.")


def many_pictures() -> Episode:
    """Several calls, of which two return pictures of other sizes, one twice."""
    crop = action("crop_and_inspect", {"bbox": "[0, 0, 1, 1]"}, "read: Gala", images=(shown("green", SIZES[1]),))
    looks = action(
        "compare_with_reference",
        {"reference_url": "https://gala.example/p.png"},
        "different person",
        images=(shown("blue", SIZES[2]), shown("green", SIZES[1])),
    )
    return episode("many", counted(0, masked=True), crop, refused(), looks, searched(), cited=("o2", "o3"))


def make_checkout(root: Path, episodes: Sequence[Episode]) -> Paths:
    """A checkout with reviewed episodes, their pictures and an untrained student."""
    paths = Paths(root)
    bank = ImageBank(paths.episodes)
    for data in PICTURES.values():
        bank.put(data)
    write_reviewed(paths, episodes)
    (root / "params.yaml").touch()
    texts = [message.text for item in (*episodes, many_pictures()) for message in messages_of(item)]
    tokenizer = train_tokenizer([*texts, "o1\n", "<|im_start|>user\n"] * 4, TINY.vocab_size)
    save_student(paths.base_policy, build_student(TINY, tokenizer), tokenizer, build_image_processor(TINY))
    return paths


def write_reviewed(paths: Paths, episodes: Sequence[Episode]) -> None:
    """Put other episodes in the place of the reviewed ones."""
    write_episodes(paths.reviewed / "episodes.parquet", episodes)


def encoder_of(paths: Paths) -> ChatEncoder:
    """The student's encoder, as the stages make it."""
    return ChatEncoder(*load_processor(paths.base_policy), ImageBank(paths.episodes))
