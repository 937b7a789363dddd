"""Which column of a table is which of our fields: by common names, or by a mapping file.

A mapping file is YAML, one line a field; whatever it leaves out is still found by its common names::

    image: picture_file
    label: {field: truth, values: {real: supported, fake: refuted}}
"""

import difflib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from components.curation.transfer.refusals import shown
from components.errors import UsageError
from components.records.case import Verdict


class Field(StrEnum):
    """What a row can say of a case. Only `case_id` and the picture's pixels become public."""

    IMAGE = "image"
    """The picture's path inside the folder."""
    LABEL = "label"
    CASE_ID = "case_id"
    """A public id, kept as it is; it must tell nothing."""
    ID = "id"
    """The row's own id, kept private; a public id is derived from it."""
    CLAIM = "claim"
    EXPLANATION = "explanation"
    CATEGORY = "category"
    PROVENANCE = "provenance"
    IMAGE_ORIGIN = "image_origin"
    """`camera`, the name of a generator, or whatever the table says."""
    ORIGINAL_PATH = "original_path"
    """The picture's path where it was first imported from."""


NAMES: dict[Field, tuple[str, ...]] = {
    Field.IMAGE: ("image_path", "image", "file_name", "filename", "path", "image_file"),
    Field.LABEL: ("label", "verdict", "factual_status", "factuality_label"),
    Field.CASE_ID: ("case_id",),
    Field.ID: ("id", "row_id", "source_id"),
    Field.CLAIM: ("claim", "target_claim", "statement", "text", "caption"),
    Field.EXPLANATION: ("explanation", "rationale", "reason"),
    Field.CATEGORY: ("category", "error_type", "type"),
    Field.PROVENANCE: ("provenance", "source", "url", "source_url"),
    Field.IMAGE_ORIGIN: ("image_origin", "origin", "generator"),
    Field.ORIGINAL_PATH: ("original_path",),
}
"""Common names of each field, the likeliest first; case, spaces and hyphens do not count."""

REQUIRED = (Field.IMAGE, Field.LABEL)

_SHOWN = 50
"""Columns that are listed at most; a table may have thousands."""


class FieldRule(BaseModel):
    """One line of a mapping file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    field: str
    """The column's name, exactly."""
    values: dict[str, str] = {}
    """Their value to ours; case and surrounding blanks do not count."""


class FieldMap:
    """Finds our fields in rows, and remembers under which names.

    Args:
        rules: what a mapping file says.

    """

    def __init__(self, rules: Mapping[Field, FieldRule] | None = None) -> None:
        self._rules = dict(rules or {})
        self._values = {
            field: {_plain(key): value for key, value in rule.values.items()} for field, rule in self._rules.items()
        }
        self._taken = {rule.field for rule in self._rules.values()}
        self.found: dict[Field, str] = {}
        """The column that was last read for each field."""
        self._other: dict[str, None] = {}

    @property
    def unused(self) -> list[str]:
        """Columns that no row gave to a field, about `_SHOWN` of them."""
        used = set(self.found.values())
        return [name for name in self._other if name not in used]

    def check(self, columns: tuple[str, ...], table: str) -> None:
        """Look for the required and the named columns in a header.

        Raises:
            UsageError: one of them is not there.

        """
        listed = ", ".join(shown(column) for column in columns[:_SHOWN])
        for field, rule in self._rules.items():
            if rule.field not in columns:
                raise UsageError(f"{table} has no column {rule.field!r}, which the mapping gives for {field}: {listed}")
        chosen = self.columns_of(dict.fromkeys(columns, ""))
        for field in REQUIRED:
            if field not in chosen:
                raise UsageError(f"{table} has no column for `{field}` among {listed}; name it with --mapping")

    def columns_of(self, row: Mapping[str, Any]) -> dict[Field, str]:
        """The column of each field that a row has; of several, the likeliest that holds something."""
        named = {_plain(name): name for name in row if name not in self._taken}
        chosen = {field: rule.field for field, rule in self._rules.items() if rule.field in row}
        for field, names in NAMES.items():
            if field not in self._rules:
                there = [named[name] for name in names if name in named]
                filled = [name for name in there if row[name] not in (None, "")]
                if there:
                    chosen[field] = (filled or there)[0]
        return chosen

    def read(self, row: Mapping[str, Any]) -> dict[Field, Any]:
        """The values of our fields, as they stand in the row."""
        chosen = self.columns_of(row)
        self.found |= chosen
        if len(self._other) < _SHOWN:
            used = set(chosen.values())
            self._other |= dict.fromkeys([name for name in row if name not in used][:_SHOWN])
        return {field: row[name] for field, name in chosen.items()}

    def translate(self, field: Field, text: str) -> str:
        """A value in our words, where the mapping file gives one for it."""
        return self._values.get(field, {}).get(_plain(text), text)


def load_mapping(path: Path) -> FieldMap:
    """Read a mapping file.

    Raises:
        UsageError: it is missing or no YAML, or a field or value in it is wrong.

    """
    try:
        document = yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)  # every scalar stays text: `true`, `0`
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except yaml.YAMLError:
        raise UsageError(f"{path} is not valid YAML; write lines such as `image: picture_file`") from None
    if not isinstance(document, dict):
        raise UsageError(f"{path} names no field; write lines such as `image: picture_file`")
    return FieldMap({_field(key, path): _rule(key, value, path) for key, value in document.items()})


def _field(key: Any, path: Path) -> Field:
    try:
        return Field(str(key))
    except ValueError:
        near = difflib.get_close_matches(str(key), list(Field), n=1, cutoff=0.6)
        hint = f"did you mean `{near[0]}`?" if near else f"the fields are {', '.join(Field)}"
        raise UsageError(f"{path}: unknown field {shown(key)}; {hint}") from None


def _rule(key: Any, value: Any, path: Path) -> FieldRule:
    try:
        rule = FieldRule.model_validate({"field": value} if isinstance(value, str) else value)
    except ValidationError:
        raise UsageError(f"{path}: `{key}` must be a column's name, or {{field: NAME, values: {{...}}}}") from None
    wrong = [ours for ours in rule.values.values() if key == Field.LABEL and ours not in list(Verdict)]
    if wrong:
        raise UsageError(f"{path}: a label must become supported or refuted, not {shown(wrong[0])}")
    return rule


def _plain(name: str) -> str:
    return name.strip().casefold().replace(" ", "_").replace("-", "_")
