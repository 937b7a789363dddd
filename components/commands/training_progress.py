"""How far a training is."""

from collections.abc import Callable

from components.progress import Progress

OnStep = Callable[[int, dict[str, float]], None]


def shown(progress: Progress, forward: OnStep) -> OnStep:
    """What passes each step's metrics on and shows them, and says so when a training goes on in its middle."""
    begun = False

    def on_step(step: int, metrics: dict[str, float]) -> None:
        nonlocal begun
        if not begun and step > 1:
            progress.resume(step - 1)
        begun = True
        forward(step, metrics)
        speed = metrics.get("train/tokens_per_second", 0.0)
        progress.reach(step, f"loss {metrics['train/loss']:.3f}, {speed:,.0f} tokens/s")

    return on_step
