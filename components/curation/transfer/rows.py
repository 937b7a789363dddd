"""From a row of anybody's table to what a case needs, or to one sentence that says why not."""

import json
import math
import re
from typing import Any, NamedTuple

from components.curation.transfer.lines import MAX_LINE
from components.curation.transfer.mapping import Field, FieldMap
from components.curation.transfer.refusals import RefusalReason, RowRefused, shown
from components.curation.transfer.tables import RawRow
from components.records.base import Record
from components.records.case import ErrorType, Gold, Verdict
from components.records.image_bank import sha256_hex

LABELS: dict[str, Verdict] = {
    "supported": Verdict.SUPPORTED,
    "real": Verdict.SUPPORTED,
    "true": Verdict.SUPPORTED,
    "refuted": Verdict.REFUTED,
    "fake": Verdict.REFUTED,
    "false": Verdict.REFUTED,
}
"""Words for a label that need no mapping. Numbers do: 1 is as often one as the other."""

_PUBLIC_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_DERIVED_ID = re.compile(r"case-[0-9a-f]{20}")


class Source(Record):
    """What an import knows of a case besides its gold record. Private, and read by no judge."""

    case_id: str
    source_id: str
    """The row's own id; empty when it has none."""
    original_path: str
    """The picture's path in the folder that it was first imported from."""
    category: str
    """As the table has it; `Gold.error_type` only knows the types that the project can check."""
    explanation: str
    provenance: str


class Row(NamedTuple):
    """A row whose own words are in order; its picture has not been looked at."""

    line: int
    image: str
    """The picture's path."""
    embedded: bytes | None
    """The picture itself, where the table holds it."""
    verdict: Verdict
    case_id: str
    """Empty when one is to be derived."""
    source_id: str
    claim: str
    explanation: str
    category: str
    provenance: str
    image_origin: str
    original_path: str | None
    """None when the table does not say; then it is the picture's path."""

    def public_id(self, data: bytes) -> str:
        """The case's id: the row's public one, else one derived from its own id, else from its picture's bytes.

        The same row always gets the same id. A derived id is a digest, because ids such as `fake_0012` tell the
        answer.
        """
        seed = f"id\0{self.source_id}" if self.source_id else f"picture\0{sha256_hex(data)}"
        return self.case_id or f"case-{sha256_hex(seed.encode())[:20]}"

    def gold(self, case_id: str) -> Gold:
        """The private answer. It has no checks, so a judge can score the verdict and call grounds usable at most."""
        return Gold(
            case_id=case_id,
            factual_status=self.verdict,
            target_claim=self.claim,
            acceptable_evidence=(),
            checks=(),
            object_kind="",
            error_type=error_type_of(self.category),
            event_id=case_id,
            event_title=" ".join(self.claim[:200].split())[:80] or case_id,
            person_ids=(),
            official_urls=(),
            style="imported",
            route="imported",
            image_origin=self.image_origin or "unknown",
        )

    def source(self, case_id: str) -> Source:
        """What the gold record does not hold."""
        return Source(
            case_id=case_id,
            source_id=self.source_id,
            original_path=self.image if self.original_path is None else self.original_path,
            category=self.category,
            explanation=self.explanation,
            provenance=self.provenance,
        )


def read_row(raw: RawRow, fields: FieldMap) -> Row:
    """What a row says.

    Raises:
        RowRefused: the row cannot be read, a field is missing or wrong, or a public id tells something.

    """
    if isinstance(raw.values, RowRefused):
        raise raw.values
    values = fields.read(raw.values)
    path, embedded = _picture(values.pop(Field.IMAGE, None))
    texts = {field: fields.translate(field, text_of(value, field)) for field, value in values.items()}

    def text(field: Field) -> str:
        return texts.get(field, "")

    row = Row(
        line=raw.line,
        image=path,
        embedded=embedded,
        verdict=_verdict(text(Field.LABEL)),
        case_id=text(Field.CASE_ID).strip(),
        source_id=text(Field.ID).strip(),
        claim=text(Field.CLAIM),
        explanation=text(Field.EXPLANATION),
        category=text(Field.CATEGORY).strip(),
        provenance=text(Field.PROVENANCE),
        image_origin=text(Field.IMAGE_ORIGIN).strip(),
        original_path=texts.get(Field.ORIGINAL_PATH),
    )
    _check(row)
    return row


def error_type_of(category: str) -> ErrorType | None:
    """The error type that a category names, if it is one that the project knows."""
    plain = _slug(category)
    return next((kind for kind in ErrorType if kind.value == plain), None)


def text_of(value: Any, field: Field) -> str:
    """A value as text; nothing, and a number that is none, is empty.

    Raises:
        RowRefused: the value is no text that can be written as UTF-8, or is too long.

    """
    if isinstance(value, RowRefused):
        raise RowRefused(value.reason, value.detail, field)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    try:
        text = value if isinstance(value, str) else _written(value)
        length = len(text.encode())
    except UnicodeError:
        raise RowRefused(RefusalReason.NOT_UTF8, f"{shown(value)} is not UTF-8 text", field) from None
    except RecursionError:
        raise RowRefused(RefusalReason.UNREADABLE_VALUE, "the value is nested too deeply", field) from None
    if length > MAX_LINE:
        raise RowRefused(RefusalReason.LINE_TOO_LONG, f"the value is longer than {MAX_LINE // 1024**2} MiB", field)
    return text


def _written(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict | list | bool):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _picture(value: Any) -> tuple[str, bytes | None]:
    """A picture's path and, where the table holds it as `{bytes, path}` or as bytes, the picture itself."""
    if isinstance(value, bytes):
        value = {"bytes": value, "path": ""}
    if isinstance(value, dict) and isinstance(value.get("bytes"), bytes):
        return text_of(value.get("path"), Field.IMAGE), value["bytes"]
    if isinstance(value, dict):
        value = value.get("path")
    path = text_of(value, Field.IMAGE).strip()
    if not path:
        raise RowRefused(RefusalReason.MISSING_FIELD, "the row names no picture", Field.IMAGE)
    return path, None


def _verdict(label: str) -> Verdict:
    if not label.strip():
        raise RowRefused(RefusalReason.MISSING_FIELD, "the row has no label", Field.LABEL)
    verdict = LABELS.get(label.strip().casefold())
    if verdict is None:
        detail = f"{shown(label)} is neither supported nor refuted; translate it in a mapping file"
        raise RowRefused(RefusalReason.WRONG_LABEL, detail, Field.LABEL)
    return verdict


def _check(row: Row) -> None:
    if row.verdict is Verdict.SUPPORTED and error_type_of(row.category) is not None:
        detail = f"the case is supported, yet its category is {shown(row.category)}"
        raise RowRefused(RefusalReason.LABEL_AND_CATEGORY_DISAGREE, detail, Field.CATEGORY)
    if not row.case_id or _DERIVED_ID.fullmatch(row.case_id):
        return
    if not _PUBLIC_ID.fullmatch(row.case_id):
        detail = f"{shown(row.case_id)} is no plain id of at most 100 letters, digits, dots and hyphens"
        raise RowRefused(RefusalReason.WRONG_ID, detail, Field.CASE_ID)
    if _tells(row):
        detail = f"{shown(row.case_id)} tells what must stay private; map that column as `id`"
        raise RowRefused(RefusalReason.TELLING_ID, detail, Field.CASE_ID)


def _tells(row: Row) -> bool:
    """Whether the public id holds a word for a label, an error type, or the row's category, source or origin."""
    slug = _slug(row.case_id)
    private = [_slug(text) for text in (row.category, row.provenance, row.image_origin)]
    return (
        not LABELS.keys().isdisjoint(re.split(r"[^a-z]+", slug))
        or any(kind.value in slug for kind in ErrorType)
        or any(len(text) > 1 and text in slug for text in private)
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")
