import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from components.errors import EviflowError
from components.storage.ledger import Ledger


def test_records_come_back_in_order(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "new" / "ledger.jsonl")
    assert ledger.read() == []
    for number in range(3):
        ledger.append({"number": number})
    assert ledger.read() == [{"number": 0}, {"number": 1}, {"number": 2}]


@pytest.mark.incident("CX-5")
def test_only_lf_ends_a_record(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    text = "a\u2028b\u2029c\x85d\r\x0b\x0c\ne"
    ledger.append({"text": text})
    assert ledger.read() == [{"text": text}]


@pytest.mark.parametrize("torn", [b'{"number": 1', b"{", b'{"number": "' + b"x" * 10_000])
def test_a_torn_last_line_is_dropped_and_cut_off(tmp_path: Path, torn: bytes) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.append({"number": 0})
    with ledger.path.open("ab") as file:
        file.write(torn)
    assert ledger.read() == [{"number": 0}]
    ledger.append({"number": 2})
    assert ledger.read() == [{"number": 0}, {"number": 2}]


def test_a_file_of_nothing_but_a_torn_line_is_empty(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.path.write_bytes(b'{"numb')
    assert ledger.read() == []
    ledger.append({"number": 0})
    assert ledger.read() == [{"number": 0}]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.path.write_bytes(b'{"number": 0}\nnonsense\n{"number": 1}\n')
    with pytest.raises(EviflowError, match="line 2"):
        ledger.read()


def test_threads_share_a_ledger(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")

    def write(name: int) -> None:
        for number in range(20):
            ledger.append({"name": name, "number": number})

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.read()) == 80


def test_what_was_appended_survives_a_kill(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from components.storage.ledger import Ledger;"
        "ledger = Ledger(pathlib.Path(sys.argv[1]));"
        "[(ledger.append({'number': n}), print(n, flush=True)) for n in range(100000)]"
    )
    path = tmp_path / "ledger.jsonl"
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    seen = [int(process.stdout.readline()) for _ in range(30)]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    numbers = [record["number"] for record in Ledger(path).read()]
    assert numbers[: len(seen)] == seen
    assert numbers == list(range(len(numbers)))
