"""Why a row is not imported. A refused row is data: it is named, counted, and the rest is imported."""

from enum import StrEnum

from components.records.base import Record

SHOWN = 60
"""Characters of a wrong value that a refusal repeats; a value may be as long as a file."""


class RefusalReason(StrEnum):
    """What is wrong with a refused row."""

    LINE_TOO_LONG = "line_too_long"
    """A line or a value is longer than any claim or explanation."""
    NOT_UTF8 = "not_utf8"
    NOT_JSON = "not_json"
    BROKEN_CSV = "broken_csv"
    """A quote is not closed, or something follows a closing quote."""
    WRONG_COLUMNS = "wrong_columns"
    """The row has more or fewer cells than the header."""
    UNREADABLE_VALUE = "unreadable_value"
    """A value of a kind that no text can be made of."""
    MISSING_FIELD = "missing_field"
    WRONG_LABEL = "wrong_label"
    LABEL_AND_CATEGORY_DISAGREE = "label_and_category_disagree"
    """A supported case with an error type."""
    WRONG_ID = "wrong_id"
    """A public id that is no plain word."""
    TELLING_ID = "telling_id"
    """A public id that holds the label, the category or the provenance."""
    DUPLICATE_ID = "duplicate_id"
    DUPLICATE_PICTURE = "duplicate_picture"
    """A case is its picture; two rows with one picture would be one case with two answers."""
    LEAVES_FOLDER = "leaves_folder"
    """The picture's path is absolute, climbs out of the folder, or is an address."""
    SYMBOLIC_LINK = "symbolic_link"
    PICTURE_MISSING = "picture_missing"
    PICTURE_UNREADABLE = "picture_unreadable"
    """No picture, cut short, or damaged."""
    PICTURE_TOO_LARGE = "picture_too_large"
    """By its declared size, before anything is decoded, or by the size of its file."""
    PICTURE_TOO_SMALL = "picture_too_small"
    PICTURE_ANIMATED = "picture_animated"
    ZIP_BOMB = "zip_bomb"
    """A member of an archive that would grow beyond all proportion."""


class Refusal(Record):
    """One refused row, a line of `refused.jsonl`. Private: it may repeat a label or a claim."""

    line: int
    """Line of the file, counted from 1; in Parquet the row."""
    field: str
    """The field that is wrong; empty when it is the row as a whole."""
    reason: RefusalReason
    detail: str
    """One sentence."""


class RowRefused(Exception):
    """A row cannot be imported; caught where rows are counted, which adds the line."""

    def __init__(self, reason: RefusalReason, detail: str, field: str = "") -> None:
        super().__init__(detail)
        self.reason, self.detail, self.field = reason, detail, field

    def on(self, line: int) -> Refusal:
        """The refusal of the row that begins on `line`."""
        return Refusal(line=line, field=self.field, reason=self.reason, detail=self.detail)


def shown(value: object) -> str:
    """The beginning of a value, in quotes and with everything unprintable escaped."""
    text = value if isinstance(value, str) else str(value)
    return ascii_safe(text[:SHOWN]) + ("..." if len(text) > SHOWN else "")


def ascii_safe(text: str) -> str:
    """`text` in quotes; what cannot be written as UTF-8 is escaped."""
    return repr(text).encode("utf-8", "backslashreplace").decode()
