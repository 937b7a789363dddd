"""What a policy is shown: the same messages for teacher, student, trainer and judge."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from components.records.episode import Turn

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Message:
    """One chat message; pictures are named by hash and follow the text of a `user` message only."""

    role: Role
    text: str
    images: tuple[str, ...] = ()
    """SHA-256 of pictures in the image bank."""
    token_ids: tuple[int, ...] | None = None
    """For an assistant message: the ids that were sampled, so that none is ever encoded again."""
    vocabulary: str = ""
    """Which vocabulary these are of; a reader of another one, or of none that is known, encodes the text instead."""
    observation_id: str | None = None
    """For a tool message."""


@dataclass(frozen=True)
class ToolSchema:
    """A tool as the policy sees it."""

    name: str
    description: str
    parameters: dict[str, object]
    """JSON schema of the arguments."""

    def as_function(self) -> dict[str, object]:
        """The tool in the form chat templates take."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.parameters},
        }


@dataclass(frozen=True)
class Conversation:
    """Everything a policy may use to produce its next turn."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    """Tools that may be called now; empty when the report is due."""
    offered: tuple[ToolSchema, ...]
    """Tools of the whole episode, as the prompt lists them: constant, so that every prompt extends the one before."""
    stage: Literal["investigate", "report"]
    seed: int


class Policy(Protocol):
    """Anything that can investigate."""

    name: str
    quick: bool
    """Whether a turn takes next to no time, so that none is worth a thread of its own."""

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """One turn for each conversation, in order."""
        ...


Answer = Callable[[Conversation], Awaitable[Turn]]
"""The next turn of one conversation; raises what went wrong with it."""


@runtime_checkable
class AsyncPolicy(Policy, Protocol):
    """A policy that waits for others instead of computing: it is asked in the event loop, where it can be interrupted.

    Each conversation is asked for by itself, so none waits for another.
    """

    def session(self) -> AbstractAsyncContextManager[Answer]:
        """What answers for as long as the block runs, over connections that are kept and closed with it."""
        ...
