"""Lines of a file of any size, in bounded memory."""

from typing import IO

MAX_LINE = 4 * 1024 * 1024
"""Bytes. A longer line is passed over in pieces and never held as a whole."""
_PIECE = 256 * 1024
_BOM = b"\xef\xbb\xbf"


class LineReader:
    """Numbers and lines of a file, split on LF only; None stands for a line that is too long.

    Args:
        file: open for reading bytes, at its beginning.
        longest: bytes, the line's end not counted.

    """

    def __init__(self, file: IO[bytes], longest: int = MAX_LINE) -> None:
        self._file, self._longest = file, longest
        self._number = self.position = 0
        """`position`: bytes read so far."""

    def __iter__(self) -> "LineReader":
        return self

    def __next__(self) -> tuple[int, bytes | None]:
        piece = self._read(self._longest + 1)
        if not piece:
            raise StopIteration
        self._number += 1
        if len(piece) > self._longest and not piece.endswith(b"\n"):
            self._pass_over()
            return self._number, None
        return self._number, piece.removeprefix(_BOM) if self._number == 1 else piece

    def _read(self, size: int) -> bytes:
        piece = self._file.readline(size)
        self.position += len(piece)
        return piece

    def _pass_over(self) -> None:
        while (piece := self._read(_PIECE)) and not piece.endswith(b"\n"):
            pass
