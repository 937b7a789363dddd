"""Reading printed text with RapidOCR on this machine; every picture is read once and remembered."""

import io
import json
import threading
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, UnidentifiedImageError

from components.config.schema import ToolParams
from components.errors import UsageError
from components.records.base import Record
from components.records.image_bank import sha256_hex
from components.storage.atomic import write_text

if TYPE_CHECKING:
    from rapidocr import RapidOCR

BACKEND = "rapidocr"

_ROW_OVERLAP = 0.5
"""Two pieces stand on one row when their middles are nearer than this share of a piece's height."""

_WORD_GAP = 1.0
"""Pieces of a row are one line when the gap between them is at most so many heights."""

_LEAST_CHARACTERS = 3
"""A line with fewer letters and digits is taken for a drawing: a pair of glasses reads as "OO"."""

_SURE = 0.9
"""So short a piece can be part of a line from this confidence on."""


class OcrLine(Record):
    """One line of printed text."""

    text: str
    box: tuple[int, int, int, int]
    """Left, top, right, bottom, pixels."""
    confidence: float


class OcrEngine:
    """Text detection and recognition; the models load at the first picture that is not in the cache.

    Args:
        params: side that detection works on, threads.
        cache_dir: answers are kept in `ocr/` there, by picture hash, backend, version and side.

    """

    def __init__(self, params: ToolParams, cache_dir: Path) -> None:
        self._params = params
        self._folder = cache_dir / "ocr" / f"{BACKEND}-{version(BACKEND)}-{params.ocr_side}"
        self._lock = threading.Lock()

    def read(self, image_bytes: bytes) -> list[OcrLine]:
        """Printed lines of an encoded picture in reading order; empty when there are none. Safe to call from threads.

        Raises:
            UsageError: the bytes are no picture.

        """
        digest = sha256_hex(image_bytes)
        path = self._folder / digest[:2] / f"{digest}.json"
        if path.exists():
            return [OcrLine.model_validate(line) for line in json.loads(path.read_text("utf-8"))]
        lines = self._recognise(image_bytes)
        write_text(path, json.dumps([line.model_dump() for line in lines], ensure_ascii=False))
        return lines

    @cached_property
    def _engine(self) -> "RapidOCR":
        from rapidocr import RapidOCR

        return RapidOCR(
            params={
                "Global.use_cls": False,
                "Global.log_level": "critical",
                "Det.limit_type": "max",
                "Det.limit_side_len": self._params.ocr_side,
                "EngineConfig.onnxruntime.intra_op_num_threads": self._params.ocr_threads,
                # Otherwise the memory of every picture's own size is asked for anew, and its gaps add up.
                "EngineConfig.onnxruntime.enable_cpu_mem_arena": True,
            }
        )

    def _recognise(self, image_bytes: bytes) -> list[OcrLine]:
        import numpy as np

        try:
            pixels = np.asarray(Image.open(io.BytesIO(image_bytes)).convert("RGB"))[..., ::-1]
        except (UnidentifiedImageError, OSError) as error:
            raise UsageError("the bytes to read text from are no picture; pass an encoded PNG or JPEG") from error
        with self._lock:
            found = self._engine(np.ascontiguousarray(pixels), use_cls=False)
        if not found.txts:
            return []
        pieces = [
            OcrLine(text=" ".join(text.split()), box=_upright(corners), confidence=round(float(score), 4))
            for text, corners, score in zip(found.txts, found.boxes.tolist(), found.scores, strict=True)
        ]
        sure = [piece for piece in pieces if _characters(piece) >= _LEAST_CHARACTERS or piece.confidence > _SURE]
        return [line for line in printed_lines(sure) if _characters(line) >= _LEAST_CHARACTERS]


def printed_lines(pieces: list[OcrLine]) -> list[OcrLine]:
    """Pieces of text as lines: rows from top to bottom, pieces from left to right, near ones joined."""
    lines: list[OcrLine] = []
    for row in _rows(pieces):
        for index, piece in enumerate(sorted(row, key=lambda piece: piece.box[0])):
            height = piece.box[3] - piece.box[1]
            if index and piece.box[0] - lines[-1].box[2] <= _WORD_GAP * height:
                lines[-1] = _joined(lines[-1], piece)
            else:
                lines.append(piece)
    return lines


def _rows(pieces: list[OcrLine]) -> list[list[OcrLine]]:
    rows: list[list[OcrLine]] = []
    for piece in sorted(pieces, key=_middle):
        if rows and _middle(piece) - _middle(rows[-1][0]) < _ROW_OVERLAP * (piece.box[3] - piece.box[1]):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return rows


def _joined(left: OcrLine, right: OcrLine) -> OcrLine:
    box = (
        min(left.box[0], right.box[0]),
        min(left.box[1], right.box[1]),
        max(left.box[2], right.box[2]),
        max(left.box[3], right.box[3]),
    )
    return OcrLine(text=f"{left.text} {right.text}", box=box, confidence=min(left.confidence, right.confidence))


def _characters(line: OcrLine) -> int:
    return sum(map(str.isalnum, line.text))


def _middle(line: OcrLine) -> float:
    return (line.box[1] + line.box[3]) / 2


def _upright(corners: list[list[float]]) -> tuple[int, int, int, int]:
    x, y = [point[0] for point in corners], [point[1] for point in corners]
    return round(min(x)), round(min(y)), round(max(x)), round(max(y))
