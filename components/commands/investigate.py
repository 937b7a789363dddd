"""`eviflow investigate IMAGE`: one picture, one investigation, shown as it happens."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.commands.session import Session

if TYPE_CHECKING:
    from components.records.episode import Episode, Step

EXAMPLE = "Example:\n\n    eviflow investigate photo.png --policy scripted"


def investigate(
    context: typer.Context,
    image: Annotated[Path, typer.Argument(help="A PNG, JPEG or WEBP picture.")],
    policy: Annotated[
        str | None, typer.Option(help="scripted, sft or base; the newest trained policy when not given.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole episode as JSON, and nothing else.")] = False,
) -> None:
    """Investigate a picture, step by step: supported or refuted, and on what evidence."""
    from components.config.load import load_params
    from components.rollout.investigate import investigate as run

    session: Session = context.obj
    paths = session.paths
    params = load_params(paths.params)
    episode = run(image, params, paths, policy, _ignore if as_json else _show_step)
    if as_json:
        typer.echo(episode.model_dump_json(indent=2))
    else:
        _show_report(episode)


def _ignore(step: "Step") -> None:
    """Show nothing."""


def _show_step(step: "Step") -> None:
    """What was thought, called and observed in one turn."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    if step.thought:
        console.print(f"[dim]{escape(step.thought)}[/dim]")
    if step.call is not None and step.observation is not None:
        colour = "cyan" if step.observation.succeeded else "yellow"
        console.print(f"[bold {colour}]{escape(step.call.name)}[/] {escape(step.call.arguments_json)}")
        console.print(f"{escape(step.observation.text)}\n")
    elif step.feedback:
        console.print(f"[yellow]{step.kind.value}: {escape(step.feedback)}[/yellow]\n")


def _show_report(episode: "Episode") -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.panel import Panel

    console = Console(highlight=False)
    if episode.report is None:
        console.print(f"[yellow]no report: the investigation ended by {episode.termination.value}[/yellow]")
        return
    colour = "green" if episode.report.verdict.value == "supported" else "red"
    cited = f"\n[dim]cited: {', '.join(episode.report.cited)}[/dim]"
    text = escape(episode.report.explanation) + cited
    title = f"[bold {colour}]{episode.report.verdict.value}[/] by {episode.policy}"
    console.print(Panel(text, title=title, subtitle=f"{episode.actions_used} calls, {episode.duration_s:.1f} s"))
