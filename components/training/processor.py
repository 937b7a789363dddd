"""The processor report: under which tokenizer, template, pictures and settings the rows of `data/sft` were made.

It is bound to the rows by their hash. The trainer compares all of it with what it has, and refuses where they differ.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from components.config.schema import Params
from components.errors import EviflowError
from components.records.base import Record
from components.records.conversation import ToolSchema
from components.storage.identity import digest_file, digest_value
from components.tools.registry import schemas_for
from components.training.row_store import VERSION, ShardsReport

REPORT, NAMES = "processor.json", "names.json"
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
)
TEMPLATE_FILES = ("chat_template.jinja", "chat_template.json")
PICTURE_FILES = ("preprocessor_config.json", "processor_config.json")


class ToolsReport(Record):
    """One list of tools that a prompt named."""

    names: tuple[str, ...]
    tool_set: Literal["core", "full"]
    sha256: str
    """Of the schemas."""


class ProcessorReport(Record):
    """`processor.json`."""

    layout: int
    """Version of the rows' layout."""
    shards: dict[str, ShardsReport]
    """By what the files are named after: `rows`, to train on, and `action_only`."""
    names_sha256: str
    """Of `names.json`, which renaming uses."""
    tokenizer: dict[str, str]
    """SHA-256 of the tokenizer's files, by name."""
    chat_template: dict[str, str]
    """... of the chat template's; in `tokenizer_config.json` where there is none."""
    image_processor: dict[str, str]
    """... of the image processor's configuration."""
    image_id: int
    """Id of the picture placeholder."""
    merge_size: int
    """Patches of each direction that make a feature."""
    max_length: int
    """Longest row, in tokens; none is ever cut."""
    settings: dict[str, Any]
    """Section `sft_rows` of `params.yaml`, the weights among it."""
    tools: tuple[ToolsReport, ...]
    """Every list of tools that rows name."""


def processor_hashes(folder: Path) -> dict[str, dict[str, str]]:
    """The hashes of a model's folder, as the report names them."""
    return {
        "tokenizer": _hashes(folder, TOKENIZER_FILES),
        "chat_template": _hashes(folder, TEMPLATE_FILES),
        "image_processor": _hashes(folder, PICTURE_FILES),
    }


def digest_tools(tools: Sequence[ToolSchema]) -> str:
    """SHA-256 of schemas, in their order."""
    return digest_value({"tools": [tool.as_function() for tool in tools]})


def read_report(folder: Path) -> ProcessorReport:
    """The report of a set; raises EviflowError if there is no set, or one of another layout."""
    path = folder / REPORT
    if not path.exists():
        raise EviflowError(f"{folder} holds no training rows; run `eviflow stage sft-rows`, or `dvc checkout`")
    written = json.loads(path.read_text("utf-8"))
    if written.get("layout") != VERSION:
        raise EviflowError(
            f"{path} is of layout {written.get('layout')}, and EviFlow reads layout {VERSION}; "
            "run `eviflow stage sft-rows` again"
        )
    return ProcessorReport.model_validate(written)


def require_same(report: ProcessorReport, params: Params, base: Path, place: Path) -> None:
    """Make sure that rows may be trained on here: everything but their own hash, which reading them tells.

    Raises:
        EviflowError: something differs; one sentence names all of it.

    """
    refuse(place, [*other_files(report, base), *_other_settings(report, params), *_other_tools(report)])


def refuse(place: Path, differing: Sequence[str]) -> None:
    """Raise EviflowError if anything differs."""
    if differing:
        raise EviflowError(
            f"{place} was not made for this training: {'; '.join(differing)}; run `eviflow stage sft-rows`"
        )


def other_files(report: ProcessorReport, base: Path) -> Iterator[str]:
    """What of a student's tokenizer, template and image processor is not what rows were made with, named."""
    for part, here in processor_hashes(base).items():
        there: dict[str, str] = getattr(report, part)
        wrong = sorted(name for name in {*here, *there} if here.get(name) != there.get(name))
        if wrong:
            yield f"the {part.replace('_', ' ')} of {base} is another ({', '.join(wrong)})"


def _other_settings(report: ProcessorReport, params: Params) -> Iterator[str]:
    yield from _other("policy", {"max_length": report.max_length}, {"max_length": params.policy.max_length})
    yield from _other("sft_rows", report.settings, params.sft_rows.model_dump(mode="json"))


def _other(section: str, there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys([*there, *here]):
        if there.get(name) != here.get(name):
            yield f"{section}.{name} is {here.get(name)} and was {there.get(name)}"


def _other_tools(report: ProcessorReport) -> Iterator[str]:
    for told in report.tools:
        try:
            same = digest_tools(schemas_for(told.names, told.tool_set)) == told.sha256
        except ValueError:
            same = False
        if not same:
            yield f"the schemas of the tools of set `{told.tool_set}` are others than in the prompts"


def _hashes(folder: Path, names: Sequence[str]) -> dict[str, str]:
    return {name: digest_file(folder / name) for name in names if (folder / name).exists()}
