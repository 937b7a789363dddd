import io

from rich.console import Console

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
from components.rollout.show import StepPrinter, call_text


def printed(*steps: Step, episode: Episode | None = None) -> str:
    output = io.StringIO()
    printer = StepPrinter(Console(file=output, width=80))
    for step in steps:
        printer.step(step)
    if episode:
        printer.report(episode)
    return output.getvalue()


def make_step(kind: StepKind = StepKind.ACTION, **fields: object) -> Step:
    return Step(index=0, kind=kind, turn=Turn(text="<raw turn>"), **fields)  # type: ignore[arg-type]


def observed(**fields: object) -> Observation:
    plain = {"observation_id": "o1", "tool": "visit", "status": "success", "text": "a page"} | fields
    return Observation(**plain)  # type: ignore[arg-type]


def ended(report: Report | None, termination: Termination = Termination.FINISHED) -> Episode:
    return Episode(
        episode_id="c--p--s0",
        case=Case(case_id="c", image_path="a.png", image_sha256="0" * 64),
        policy="p",
        seed=0,
        exposed_tools=("visit",),
        action_budget=24,
        steps=(make_step(observation=observed()),),
        report=report,
        termination=termination,
        started_at="2031-01-01T00:00:00+00:00",
        duration_s=2.5,
    )


def test_a_step_shows_thought_call_and_observation() -> None:
    call = ToolCall(name="visit", arguments_json='{"url": "https://a.example"}')
    text = printed(make_step(thought="open it.", call=call, observation=observed(images=("0" * 64,))))
    assert text.splitlines() == [
        " 1  open it.",
        "    visit(url=https://a.example)",
        "    o1  a page",
        "    (1 picture)",
    ]


def test_a_refused_turn_shows_itself_and_the_correction() -> None:
    text = printed(make_step(StepKind.CORRECTION, feedback="Make exactly one tool call in a turn."))
    assert "<raw turn>" in text
    assert "Make exactly one tool call" in text


def test_what_pages_say_is_no_markup() -> None:
    hostile = "[red]bold[/red] [link=https://x.example]click[/link] [/]"
    seen = observed(text=hostile, status="error", failure=FailureClass.INFRASTRUCTURE)
    assert hostile in printed(make_step(thought="[b]x[/b]", observation=seen))


def test_the_report_names_what_it_cites() -> None:
    report = Report(verdict=Verdict.REFUTED, explanation="count 7 vs 9 differs [sic]", cited=("o1",))
    text = printed(episode=ended(report))
    assert "refuted" in text
    assert "count 7 vs 9 differs [sic]" in text
    assert "o1  visit" in text
    assert "1 actions, 2.5 s, policy p" in text


def test_an_investigation_without_a_report_says_why() -> None:
    assert "ended with protocol_failure" in printed(episode=ended(None, Termination.PROTOCOL_FAILURE))


def test_arguments_that_are_no_object_are_shown_as_they_stand() -> None:
    assert call_text(ToolCall(name="visit", arguments_json="[1")) == "visit([1)"
