"""From the places of text in a picture to lines in reading order."""

from collections.abc import Sequence

from components.tools.clients.baidu_ocr import PrintedLine

_ROW_OVERLAP = 0.5
"""Two pieces are on one row when they share this much of the smaller one's height."""
_WORD_GAP = 1.0
"""Pieces of a row belong together when the gap between them is at most so many heights."""


def in_reading_order(pieces: Sequence[PrintedLine]) -> list[str]:
    """One string for each printed line: rows from the top, pieces from the left, near pieces joined."""
    lines: list[str] = []
    for row in _rows(pieces):
        right = None
        for piece in sorted(row, key=lambda item: item.left):
            text = " ".join(piece.text.split())
            if not text:
                continue
            if right is not None and piece.left - right <= _WORD_GAP * piece.height:
                lines[-1] = f"{lines[-1]} {text}"
            else:
                lines.append(text)
            right = piece.left + piece.width
    return lines


def _rows(pieces: Sequence[PrintedLine]) -> list[list[PrintedLine]]:
    rows: list[list[PrintedLine]] = []
    for piece in sorted(pieces, key=lambda item: (item.top + item.height / 2, item.left)):
        if rows and _share_row(rows[-1][0], piece):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return rows


def _share_row(left: PrintedLine, right: PrintedLine) -> bool:
    overlap = min(left.top + left.height, right.top + right.height) - max(left.top, right.top)
    return overlap >= _ROW_OVERLAP * min(left.height, right.height)
