"""What the loop itself costs: investigations of many turns with tools that answer at once and turns that are known.

Run with `python -m benchmarks.loop_time`. A turn asks for the conversation, reads the turn, checks and executes the
call, and records the step; every result is 600 characters long.
"""

import argparse
import asyncio
import io
import statistics
import tempfile
import time
from pathlib import Path

from PIL import Image

from components.agent.codec import render_call
from components.agent.loop import Investigation
from components.config.schema import AgentParams
from components.records.case import Case
from components.records.episode import Turn
from components.records.image_bank import ImageBank, sha256_hex
from components.tools.base import Arguments, CaseState, NoArguments, ToolFamily, ToolResult
from components.tools.toolbox import Toolbox


class Echo:
    """Says the same at once."""

    name = "perceive_scene"
    description = "Glance at the picture."
    family = ToolFamily.VISUAL
    limit: int | None = None
    arguments: type[Arguments] = NoArguments

    def refuse(self, arguments: Arguments, state: CaseState) -> str | None:
        """Never."""
        return None

    def key(self, arguments: Arguments) -> str | None:
        """May be called again."""
        return None

    async def run(self, arguments: Arguments, state: CaseState) -> ToolResult:
        """Six hundred characters."""
        return ToolResult("fact. " * 100)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--investigations", type=int, default=200)
    options = parser.parse_args()
    buffer = io.BytesIO()
    Image.new("RGB", (320, 240), "red").save(buffer, format="PNG")
    with tempfile.TemporaryDirectory() as folder:
        bank = ImageBank(Path(folder))
        each = [asyncio.run(_turns(buffer.getvalue(), bank)) for _ in range(options.investigations)]
    turns = [seconds for one in each for seconds in one]
    first, last = (statistics.mean(one[at] for one in each) for at in (0, -1))
    print(f"{len(turns)} turns: {1e3 * statistics.mean(turns):.3f} ms each, at most {1e3 * max(turns):.3f} ms;")
    print(f"the first of an investigation {1e3 * first:.3f} ms, the last of {len(each[0])} {1e3 * last:.3f} ms")


async def _turns(image: bytes, bank: ImageBank) -> list[float]:
    """Seconds of each turn of one investigation."""
    case = Case(case_id="c", image_path="c.png", image_sha256=sha256_hex(image))
    config = AgentParams(control_packet=True)
    investigation = Investigation(case, Toolbox(case, image, (Echo(),), bank), config, policy="known", seed=0)
    turn = Turn(text=render_call("Look. " * 20, "perceive_scene", {}))
    seconds = []
    for _ in range(config.action_budget):
        started = time.perf_counter()
        investigation.conversation()
        await investigation.advance(turn)
        seconds.append(time.perf_counter() - started)
    return seconds


if __name__ == "__main__":
    main()
