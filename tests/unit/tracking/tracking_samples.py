"""Small episodes to trace."""

import io

from PIL import Image

from components.records.case import Case, Verdict
from components.records.episode import (
    Episode,
    FailureClass,
    Observation,
    Report,
    Step,
    StepKind,
    Termination,
    ToolCall,
    Turn,
)
from components.records.image_bank import ImageBank


def png(colour: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (32, 24), (colour % 256, 40, 90)).save(buffer, "PNG")
    return buffer.getvalue()


def call_step(index: int, tool: str, *, images: tuple[str, ...] = (), failure: FailureClass | None = None) -> Step:
    seen = Observation(
        observation_id=f"o{index + 1}",
        tool=tool,
        status="error" if failure else "success",
        failure=failure,
        text=f"o{index + 1}\nresult of {tool}",
        images=images,
        duration_s=0.1,
    )
    turn = Turn(text=f"<think>\nlook\n</think>\n\n{tool}")
    call = ToolCall(name=tool, arguments_json='{"query": "harvest gala"}')
    return Step(index=index, kind=StepKind.ACTION, turn=turn, thought="look", call=call, observation=seen)


def episode(number: int, bank: ImageBank, *, calls: int = 3) -> Episode:
    picture, crop = bank.put(png(number)), bank.put(png(number + 100))
    steps = [call_step(index, f"tool_{index}", images=(crop,) if index == 0 else ()) for index in range(calls)]
    steps.append(call_step(calls, "visit", failure=FailureClass.INFRASTRUCTURE))
    steps.append(Step(index=calls + 1, kind=StepKind.REPORT, turn=Turn(text="report")))
    return Episode(
        episode_id=f"case-{number}--sft--s1",
        case=Case(case_id=f"case-{number}", image_path="a.png", image_sha256=picture),
        policy="sft",
        seed=1,
        exposed_tools=("visit",),
        action_budget=24,
        steps=tuple(steps),
        report=Report(verdict=Verdict.REFUTED, explanation="the date differs", cited=("o1",)),
        termination=Termination.FINISHED,
        started_at="2031-03-12T10:00:00+00:00",
        duration_s=2.0,
    )
