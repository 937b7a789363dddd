"""How large an episode of the paper's size is in a shard, without its pictures.

Run with `python -m benchmarks.shard_size`. An episode has 13 calls, 6,273 sampled tokens with their log-probabilities
and 18,000 tokens of observations: more than EviScene's episodes have on average (24,311 tokens, of which 5,044 are
sampled). Texts are the documentation of Python modules, each used once before any comes again; ids are dealt as words
are, by Zipf's law.
"""

import argparse
import ast
import contextlib
import itertools
import json
import sysconfig
import tempfile
import tracemalloc
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from components.agent.codec import render_call, render_report
from components.records.case import Case, Verdict
from components.records.episode import (
    Episode,
    Observation,
    Report,
    Step,
    StepKind,
    Termination,
    ToolCall,
    Turn,
)
from components.records.shards import read_episodes, write_episode_shards

CALLS, SAMPLED, VOCABULARY = 13, 6273, 248_320
OBSERVED_CHARS = 72_000
"""Of all observations together; four to a token."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--candidates", type=int, default=0, help="likeliest candidates that are kept with each token")
    options = parser.parse_args()
    with warnings.catch_warnings(action="ignore"):
        text = prose()
    print(f"{len(text) / 1e6:.1f} MB of text to take from")
    with tempfile.TemporaryDirectory() as folder:
        tracemalloc.start()
        written = write_episode_shards(Path(folder), episodes(options.episodes, text, options.candidates))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        first = next(iter(episodes(1, text, options.candidates)))
        assert read_episodes(Path(folder))[0] == first
        raw = len(first.model_dump_json())
    print(f"{written} episodes of {CALLS} calls and {SAMPLED} sampled tokens, {options.candidates} candidates each")
    print(f"{size / written / 1000:.1f} KB an episode in the shards, {raw / 1000:.0f} KB as JSON")
    print(f"{peak / 1e6:.0f} MB at most while writing")


def prose() -> str:
    """What Python modules say of themselves, without what they say twice."""
    said: dict[str, None] = {}
    for root in ("stdlib", "purelib"):
        for path in sorted(Path(sysconfig.get_path(root)).rglob("*.py"))[:6000]:
            with contextlib.suppress(SyntaxError, UnicodeDecodeError):
                tree = ast.parse(path.read_text("utf-8"))
                said |= dict.fromkeys(
                    ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, _KINDS)
                )
    return "\n".join(said).replace("<", "(").replace(">", ")")


_KINDS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def episodes(count: int, text: str, candidates: int) -> Iterator[Episode]:
    draw = np.random.default_rng(7)
    pieces = itertools.cycle([text[at : at + 2000] for at in range(0, len(text), 2000)])
    for number in range(count):
        yield episode(number, pieces, draw, candidates)


def episode(number: int, pieces: Iterator[str], draw: np.random.Generator, candidates: int) -> Episode:
    turns = CALLS + 2
    steps = []
    for index in range(turns):
        thought = next(pieces)[: 4 * SAMPLED // turns - 200]
        turn = sampled(thought, index, turns, draw, candidates)
        seen = None
        if index < CALLS:
            length = OBSERVED_CHARS // CALLS
            said = "".join(next(pieces) for _ in range(-(-length // 2000)))[:length]
            seen = Observation(
                observation_id=f"o{index + 1}",
                tool="visit",
                status="success",
                text=said,
                payload_json=json.dumps({"text": said}),
                source_url=f"https://example.org/{number}/{index}",
            )
        steps.append(
            Step(
                index=index,
                kind=StepKind.ACTION if seen else StepKind.REPORT if index == turns - 1 else StepKind.FINISH,
                turn=turn,
                thought=thought,
                call=ToolCall(name="visit", arguments_json='{"url": "https://example.org"}') if seen else None,
                observation=seen,
            )
        )
    digest = f"{number:064x}"
    return Episode(
        episode_id=f"train-{number:06d}--openai-student--s26",
        case=Case(case_id=f"train-{number:06d}", image_path=f"assets/{digest}", image_sha256=digest),
        policy="openai-student",
        seed=26,
        exposed_tools=("visit",),
        action_budget=24,
        steps=tuple(steps),
        report=Report(verdict=Verdict.REFUTED, explanation="as said", cited=("o1",)),
        termination=Termination.FINISHED,
        started_at="2026-01-01T00:00:00.000+00:00",
        duration_s=500.0,
    )


def sampled(thought: str, index: int, turns: int, draw: np.random.Generator, candidates: int) -> Turn:
    count = SAMPLED // turns
    text = render_call(thought, "visit", {"url": f"https://example.org/{index}"})
    if index == turns - 1:
        text = render_report(thought, Report(verdict=Verdict.REFUTED, explanation="as said", cited=("o1",)))
    # As a server tells them: float32, written out as a double.
    logprobs = [float(np.float32(-value)) for value in draw.exponential(0.3, count)]
    named = tuple(
        tuple((int(draw.zipf(1.2) % VOCABULARY), float(np.float32(-draw.exponential(4)))) for _ in range(candidates))
        for _ in range(count)
    )
    return Turn(
        text=text,
        token_ids=tuple(int(value) % VOCABULARY for value in draw.zipf(1.2, count)),
        logprobs=tuple(logprobs),
        top_logprobs=named if candidates else None,
        prompt_tokens=20_000,
        sampling_json=json.dumps({"model": "student", "temperature": 0.7, "top_p": 0.95, "seed": 26}),
    )


if __name__ == "__main__":
    main()
