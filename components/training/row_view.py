"""A training row for a reader: every span in its colour with its weight, so that a person can check the mask."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from components.config.paths import Paths
from components.errors import EviflowError, UsageError
from components.policies.student import load_processor
from components.training.processor import other_files, read_report
from components.training.row_record import RowRecord
from components.training.row_store import count_rows, find_rows
from components.training.rows import Span
from components.training.spans import SpanName

COLOURS = {
    SpanName.PROMPT: "bright_black",
    SpanName.REASONING: "cyan",
    SpanName.TOOL_CALL: "green",
    SpanName.REPORT: "magenta",
    SpanName.OBSERVATION: "yellow",
    SpanName.FEEDBACK: "blue",
    SpanName.CLOSING: "bright_black",
}
_WRITTEN = (SpanName.REASONING, SpanName.TOOL_CALL, SpanName.REPORT)
_SPECIAL, _PICTURE, _UNLEARNED = "reverse", "bold", "dim strike"
_LABEL_WIDTH = 15


def show_rows(paths: Paths, wanted: str, console: Console | None = None) -> None:
    """Print the row of a number (0-based) or id, or all rows of an episode.

    Raises:
        EviflowError: there are no rows, or they were made with another tokenizer.
        UsageError: there is no such row, or no student.

    """
    report = read_report(paths.sft_rows)
    records = find_rows(paths.sft_rows, wanted)
    if not records:
        raise UsageError(
            f"{paths.sft_rows} has no row `{wanted}`; its rows are 0 to {count_rows(paths.sft_rows) - 1}, "
            "and an episode's rows go by its id"
        )
    tokenizer, _ = load_processor(paths.base_policy)
    if wrong := list(other_files(report, paths.base_policy)):
        raise EviflowError(f"{paths.sft_rows} cannot be read: {'; '.join(wrong)}; run `eviflow stage sft-rows`")
    shown = console or Console()
    shown.print(_legend())
    for record in records:
        _print_row(shown, record, tokenizer, report.image_id)


def _legend() -> Text:
    line = Text("spans: ")
    for name, colour in COLOURS.items():
        line.append(name.value, style=colour).append("  ")
    line.append("written, and not learned", style=f"cyan {_UNLEARNED}").append("  ")
    line.append("<|special token|>", style=_SPECIAL).append("  ↵ line break  ")
    return line.append("xN loss weight of each token of the span")


def _print_row(console: Console, record: RowRecord, tokenizer: Any, image_id: int) -> None:
    console.print(Rule(Text(record.row_id), align="left"))
    share = record.supervised_tokens / record.length
    console.print(
        f"case {record.case_id}, {record.verdict or 'no verdict'}, {record.bucket}: {record.length} tokens, "
        f"{record.supervised_tokens} supervised ({share:.1%}), {record.tool_calls} tool calls, "
        f"{len(record.images)} picture{'s'[: len(record.images) != 1]}",
        highlight=False,
        markup=False,
    )
    table = Table.grid(padding=(0, 1))
    table.add_column(width=_LABEL_WIDTH, no_wrap=True)
    table.add_column(overflow="fold")
    for span in record.spans:
        table.add_row(_label(span), _text(span, record, tokenizer, image_id))
    console.print(table)


def _label(span: Span) -> Text:
    """Name and weight; under it step and number of tokens."""
    label = Text(f"{span.name.value} ", style=COLOURS[span.name])
    label.append(f"x{span.weight:g}", style="bold" if span.weight else "bold red" if _unlearned(span) else "")
    step = "" if span.step is None else f"step {span.step}, "
    return label.append(f"\n{step}{span.end - span.start} tok", style="dim")


def _unlearned(span: Span) -> bool:
    """Whether the policy wrote it and nobody is to learn it."""
    return span.name in _WRITTEN and not span.weight


def _text(span: Span, record: RowRecord, tokenizer: Any, image_id: int) -> Text:
    """What the span reads; a run of placeholders is one picture."""
    style = f"{COLOURS[span.name]} {_UNLEARNED}" if _unlearned(span) else COLOURS[span.name]
    special = frozenset(token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special)
    pictures = {picture.start: picture for picture in record.images}
    text = Text()
    for start, kind, ids in _runs(record.token_ids, span, special, image_id, frozenset(pictures)):
        if kind == "picture" and start in pictures:
            picture = pictures[start]
            grid = "x".join(map(str, picture.grid))
            told = f"[picture {picture.tokens} tokens {picture.sha256[:12]}… grid {grid}]"
            text.append(told, style=f"{style} {_PICTURE}")
        else:
            text.append(_visible(tokenizer.decode(ids)), style=f"{style} {_SPECIAL if kind == 'special' else ''}")
    text.rstrip()
    return text


def _runs(
    token_ids: Sequence[int], span: Span, special: frozenset[int], image_id: int, starts: frozenset[int]
) -> Iterator[tuple[int, str, list[int]]]:
    """Neighbouring tokens that are shown alike: where they begin, what they are, and their ids."""
    pictures = 0

    def kind(at: int) -> tuple[str, int]:
        nonlocal pictures
        if token_ids[at] == image_id:
            pictures += at in starts
            return "picture", pictures
        return ("special", at) if token_ids[at] in special else ("text", 0)

    for (name, _), places in groupby(range(span.start, span.end), key=kind):
        run = list(places)
        yield run[0], name, [token_ids[at] for at in run]


def _visible(text: str) -> str:
    """Line breaks with a mark; what a terminal would obey or nobody sees, as its code."""
    shown = (
        character if character.isprintable() or character == "\n" else ascii(character)[1:-1] for character in text
    )
    return "".join(shown).replace("\n", "↵\n")
