"""What a flow tells the person who started it."""

from datetime import datetime

from rich.console import Console
from rich.markup import escape


def say(text: str) -> None:
    """One line with the time of day, and at once, whatever the output is piped to."""
    now = datetime.now().astimezone().strftime("%H:%M:%S")
    Console(highlight=False, soft_wrap=True).print(f"[dim]{now}[/dim] [bold]{escape(text)}[/bold]")
