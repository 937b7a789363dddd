"""The process that reads pages: bytes in, text out, one page after the other.

It stands alone so that a page may crash it, hang it or fill its memory without harm. It bounds itself as well as it
can, and `clients/extraction.py`, which starts it, does the rest. What it writes is JSON: whoever reads it must not have
to trust a process that a page may have taken over.

    python -m components.tools.pages.worker MEMORY_BYTES SECONDS
"""

import json
import os
import re
import resource
import signal
import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO

from components.tools.pages.record import Answer

LENGTH = struct.Struct(">I")
"""Before each message: how many bytes it has."""
READY = b"ready"

_WARM = b"<html><head><title>A page</title></head><body><main><p>A page to begin with.</p></main></body></html>"
_OPEN_FILES = 64
_SPENT_SHARE = 0.5
"""Of its memory; a process that has once used more is not given another page."""
_GRACE_S = 5
"""Seconds over the limit after which the process ends itself, should nobody be there to end it."""


def main() -> None:
    """Answer until the input ends."""
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    answers = _own_output()
    from components.tools.pages.text import read_page

    read_page(_WARM, "utf-8", "https://page.example/")
    _bound(memory)
    _write(answers, READY)
    while (header := _take(sys.stdin.buffer)) is not None:
        about, body = json.loads(header), _take(sys.stdin.buffer)
        if body is None:
            return
        signal.alarm(seconds + _GRACE_S)
        answer = _answer(about, body, memory)
        signal.alarm(0)
        _write(answers, answer.model_dump_json().encode())


def _answer(about: dict[str, Any], body: bytes, memory: int) -> Answer:
    from components.tools.pages.text import read_page

    try:
        text = read_page(body, about["charset"], about["url"], plain=about["plain"])
    except Exception as error:
        # Whatever a page makes of the parsers is told as the page's fault, by its name alone.
        return Answer(failure=type(error).__name__, spent=True)
    spent = _peak() > memory * _SPENT_SHARE
    if spent and not text.markdown:
        # The parser tells of memory that it did not get as of a page without text.
        return Answer(failure=MemoryError.__name__, spent=True)
    return Answer(text=text, spent=spent)


def _peak() -> int:
    """Bytes of memory that this process had at most; 0 where that cannot be told.

    The figure of `getrusage` would start with that of the process it was started by.
    """
    status = Path("/proc/self/status")
    peak = re.search(r"^VmHWM:\s*(\d+) kB", status.read_text(), re.MULTILINE) if status.exists() else None
    return int(peak[1]) * 1024 if peak else 0


def _own_output() -> BinaryIO:
    """Standard output, for answers alone: what libraries print goes to the errors."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _bound(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))


def _take(stream: BinaryIO) -> bytes | None:
    """The next message; None at the end, also when it comes in the middle of one."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None


def _write(stream: BinaryIO, data: bytes) -> None:
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


if __name__ == "__main__":
    main()
