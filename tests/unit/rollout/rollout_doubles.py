"""A small world of its own for rollouts: cases with pictures, one tool, and a policy that walks a fixed path."""

import asyncio
import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image

from components.agent.codec import render_call, render_report
from components.records.case import Case, Verdict
from components.records.conversation import Conversation
from components.records.episode import Report, Turn
from components.records.image_bank import ImageBank, asset_path
from components.tools.base import CaseState, NoArguments, ToolFamily, ToolResult
from components.tools.toolbox import Toolbox


def make_cases(bank: ImageBank, count: int) -> list[Case]:
    """Cases with pictures of their own in `bank`."""
    cases = []
    for number in range(count):
        buffer = io.BytesIO()
        Image.new("RGB", (32, 32), (number % 256, number // 256, 99)).save(buffer, format="PNG")
        digest = bank.put(buffer.getvalue())
        cases.append(Case(case_id=f"c{number:03d}", image_path=asset_path(digest), image_sha256=digest))
    return cases


class Glance:
    """A tool that names the picture, and may note every call in a file."""

    name = "perceive_scene"
    description = "Look at the picture."
    family = ToolFamily.VISUAL
    limit = None
    arguments = NoArguments

    def __init__(self, journal: Path | None = None, delay_s: Callable[[], float] = float) -> None:
        self._journal = journal
        self._delay_s = delay_s

    def refuse(self, arguments: NoArguments, state: CaseState) -> str | None:
        return None

    def key(self, arguments: NoArguments) -> str | None:
        return None

    async def run(self, arguments: NoArguments, state: CaseState) -> ToolResult:
        if seconds := self._delay_s():
            await asyncio.sleep(seconds)
        if self._journal:
            with self._journal.open("a") as file:
                file.write(f"{state.case.case_id}\n")
        return ToolResult(hashlib.sha256(state.image).hexdigest()[:8])


class Tools:
    """Opens toolboxes with the one tool."""

    def __init__(self, bank: ImageBank, journal: Path | None = None, delay_s: Callable[[], float] = float) -> None:
        self._bank = bank
        self._tool = Glance(journal, delay_s)

    def toolbox(self, case: Case, image: bytes) -> Toolbox:
        return Toolbox(case, image, [self._tool], self._bank)


class Walker:
    """Looks `looks` times, finishes and reports; every `odd` seed refutes."""

    name = "walker"
    quick = False

    def __init__(self, looks: int = 2) -> None:
        self.looks = looks
        self.batches: list[int] = []

    def act(self, conversations: Sequence[Conversation]) -> list[Turn]:
        self.batches.append(len(conversations))
        return [self.turn(conversation) for conversation in conversations]

    def turn(self, conversation: Conversation) -> Turn:
        if conversation.stage == "report":
            verdict = Verdict.REFUTED if conversation.seed % 2 else Verdict.SUPPORTED
            return Turn(text=render_report("report.", Report(verdict=verdict, explanation="seen", cited=("o1",))))
        looks = sum(message.role == "tool" for message in conversation.messages)
        if looks < self.looks:
            return Turn(text=render_call("look.", "perceive_scene", {}))
        return Turn(text=render_call("done.", "finish_investigation", {"rationale": "seen"}))
