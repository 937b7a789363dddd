"""Printing an investigation for a reader, as it happens and as it ended."""

import json

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from components.records.case import Verdict
from components.records.episode import Episode, Step, StepKind, ToolCall


class StepPrinter:
    """Prints each step when it has happened, and the report at the end.

    What policies and pages write is printed as it stands: no markup in it is obeyed.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console()

    def step(self, step: Step) -> None:
        """Print a turn: what was thought, called and observed."""
        line = Text(f"{step.index + 1:>2}  ", style="dim")
        line.append(step.thought or "(no thought)", style="italic")
        self._console.print(line)
        if step.call is not None:
            self._indented(call_text(step.call), "cyan")
        elif step.kind is StepKind.CORRECTION:
            self._indented(step.turn.text, "cyan")
        if step.observation is not None:
            seen = step.observation
            shown = f"\n({len(seen.images)} picture{'s'[: len(seen.images) != 1]})" if seen.images else ""
            self._indented(f"{seen.observation_id}  {seen.text}{shown}", "" if seen.succeeded else "yellow")
        elif step.kind is StepKind.CORRECTION:
            self._indented(step.feedback, "yellow")

    def report(self, episode: Episode) -> None:
        """Print the conclusion, or why there is none."""
        tail = f"{episode.actions_used} actions, {episode.duration_s:.1f} s, policy {episode.policy}"
        if episode.report is None:
            ending = Text(f"No report: the investigation ended with {episode.termination.value}.")
            self._console.print(Panel(ending, title="no verdict", subtitle=tail, border_style="yellow"))
            return
        tools = {item.observation_id: item.tool for item in episode.observations}
        body = Text(episode.report.explanation)
        for name in episode.report.cited:
            body.append(f"\n  {name}  {tools.get(name, 'unknown')}", style="dim")
        verdict = episode.report.verdict
        colour = "green" if verdict is Verdict.SUPPORTED else "red"
        self._console.print(
            Panel(body, title=Text(verdict.value, style=f"bold {colour}"), subtitle=tail, border_style=colour)
        )

    def _indented(self, text: str, style: str) -> None:
        for line in text.splitlines():
            self._console.print(Text(f"    {line}", style=style), soft_wrap=True)


def call_text(call: ToolCall) -> str:
    """`visit(url=https://...)`; the raw arguments where they are no JSON object."""
    try:
        arguments = json.loads(call.arguments_json)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        return f"{call.name}({call.arguments_json})"
    return f"{call.name}({', '.join(f'{key}={value}' for key, value in arguments.items())})"
