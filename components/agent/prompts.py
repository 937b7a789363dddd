"""The fixed sentences of every conversation, kept as text files beside this module."""

from functools import cache
from importlib.resources import files


@cache
def _text(name: str) -> str:
    return (files("components.agent") / "texts" / f"{name}.txt").read_text("utf-8").rstrip("\n")


def system() -> str:
    """What the policy is told before anything else."""
    return _text("system")


def question(direct: bool = False) -> str:
    """What the policy is asked about the picture; `direct` asks for a report without an investigation."""
    return _text("question_direct" if direct else "question")


def report_request() -> str:
    """What the policy is told when its investigation has ended."""
    return _text("report")
