"""Pictures in shards: what is written, and what is read back."""

import hashlib
import io
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from components.errors import EviflowError
from components.records.image_bank import ImageBank, asset_path
from components.records.image_writer import GROUP_BYTES, GROUP_ROWS, SHARD_BYTES, new_shards

ROOT = Path(__file__).parents[3]


def picture(seed: int, size: tuple[int, int] = (12, 10), kind: str = "PNG") -> bytes:
    """A picture of noise; each seed gives another one."""
    pixels = np.random.default_rng(seed).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format=kind)
    return buffer.getvalue()


def pack(folder: Path, pictures: list[bytes], limit: int = SHARD_BYTES) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    with new_shards(folder, limit) as shards:
        return [shards.put(data) for data in pictures]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "assets").iterdir()}


PICTURES = [picture(seed) for seed in range(12)]
DIGESTS = [hashlib.sha256(data).hexdigest() for data in PICTURES]


def test_every_picture_is_read_back_and_described(tmp_path: Path) -> None:
    data = {"png": picture(0, (64, 48)), "jpeg": picture(1, (20, 30), "JPEG"), "webp": picture(2, (9, 8), "WEBP")}
    digests = dict(zip(data, pack(tmp_path, list(data.values())), strict=True))
    assert [path.name for path in tmp_path.iterdir()] == ["assets"]
    rows = pq.read_table(tmp_path / "assets/pictures-00000-of-00001.parquet").to_pylist()
    assert [row["sha256"] for row in rows] == sorted(digests.values())
    assert {row["format"]: row["bytes"] for row in rows} == data
    assert {row["format"]: (row["width"], row["height"]) for row in rows} == {
        "png": (64, 48),
        "jpeg": (20, 30),
        "webp": (9, 8),
    }
    bank = ImageBank(tmp_path)
    assert {kind: bank.read(digest) for kind, digest in digests.items()} == data
    assert bank.open(digests["png"]).size == (64, 48)
    assert (digests["png"] in bank, "0" * 64 in bank, "f" * 64 in bank, "" in bank) == (True, False, False, False)


@given(
    order=st.permutations(range(12)), twice=st.lists(st.integers(0, 11)), limit=st.sampled_from([5_000, SHARD_BYTES])
)
def test_the_order_and_repetitions_make_no_difference(order: list[int], twice: list[int], limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, other = Path(folder, "one"), Path(folder, "other")
        pack(one, PICTURES, limit)
        assert pack(other, [PICTURES[at] for at in [*order, *twice]], limit) == [DIGESTS[at] for at in [*order, *twice]]
        assert files(one) == files(other)


@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=25), limit=st.integers(6_000, 40_000))
def test_no_shard_passes_the_limit_unless_a_single_picture_does(sizes: list[int], limit: int) -> None:
    pictures = [picture(seed, (size, size)) for seed, size in enumerate(sizes)]
    with tempfile.TemporaryDirectory() as folder:
        digests = pack(Path(folder), pictures, limit)
        found: list[str] = []
        names = sorted(files(Path(folder)))
        for at, name in enumerate(names):
            assert name == f"pictures-{at:05d}-of-{len(names):05d}.parquet"
            path = Path(folder, "assets", name)
            rows = pq.read_table(path, columns=["sha256"]).column(0).to_pylist()
            assert path.stat().st_size <= limit or len(rows) == 1
            found += rows
        assert found == sorted(digests)
        bank = ImageBank(Path(folder))
        assert [bank.read(digest) for digest in digests] == pictures


def test_a_picture_larger_than_the_limit_has_a_shard_of_its_own(tmp_path: Path) -> None:
    large = picture(99, (80, 80))
    digests = pack(tmp_path, [*PICTURES, large], 9_000)
    sizes = {name: len(data) for name, data in files(tmp_path).items()}
    [over] = [name for name, size in sizes.items() if size > 9_000]
    assert pq.read_table(tmp_path / "assets" / over).column("sha256").to_pylist() == digests[-1:]
    assert ImageBank(tmp_path).read(digests[-1]) == large


def test_groups_are_small_so_that_one_picture_is_read_without_its_file(tmp_path: Path) -> None:
    pack(tmp_path, [picture(seed, (300, 200)) for seed in range(20)])
    [path] = (tmp_path / "assets").iterdir()
    metadata = pq.ParquetFile(path).metadata
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    assert max(group.num_rows for group in groups) <= GROUP_ROWS
    assert max(group.total_byte_size for group in groups) <= GROUP_BYTES + len(picture(0, (300, 200))) + 2_000
    assert metadata.num_rows == 20


def test_a_bank_reads_files_and_shards_and_writes_what_neither_has(tmp_path: Path) -> None:
    packed = pack(tmp_path / "data", PICTURES[:6])
    bank = ImageBank(tmp_path / "work", also=[tmp_path / "data"])
    assert bank.put(PICTURES[0]) == packed[0]
    assert not (tmp_path / "work").exists()
    assert bank.put(PICTURES[6]) == DIGESTS[6]
    assert (tmp_path / "work" / asset_path(DIGESTS[6])).read_bytes() == PICTURES[6]
    assert [bank.read(digest) for digest in DIGESTS[:7]] == PICTURES[:7]


def test_no_pictures_make_no_shard(tmp_path: Path) -> None:
    pack(tmp_path, [])
    assert "0" * 64 not in ImageBank(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_no_picture_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EviflowError, match=r"5 bytes with SHA-256 .* are no picture"):
        pack(tmp_path, [PICTURES[0], b"hello"])
    assert list(tmp_path.iterdir()) == []


def fail_after(folder: Path, data: bytes) -> None:
    with new_shards(folder) as shards:
        shards.put(data)
        raise OSError("full")


def test_a_block_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="full"):
        fail_after(tmp_path, PICTURES[0])
    assert list(tmp_path.iterdir()) == []


def test_a_missing_picture_is_named_with_the_places_and_the_mend(tmp_path: Path) -> None:
    pack(tmp_path / "data", PICTURES[:3])
    bank = ImageBank(tmp_path / "work", also=[tmp_path / "data"])
    said = f"picture {DIGESTS[5]} is in none of {tmp_path / 'work'}, {tmp_path / 'data'}; run `dvc checkout`"
    with pytest.raises(EviflowError) as caught:
        bank.read(DIGESTS[5])
    assert str(caught.value) == said


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    pack(tmp_path, PICTURES, 6_000)
    names = sorted(files(tmp_path))
    assert len(names) > 2
    (tmp_path / "assets" / names[1]).unlink()
    said = rf"has {len(names) - 1} files, and {names[-1]} is not .*; run `dvc checkout`"
    with pytest.raises(EviflowError, match=said):
        ImageBank(tmp_path).read(DIGESTS[0])


def test_a_turned_byte_of_a_picture_names_the_picture_and_the_mend(tmp_path: Path) -> None:
    pack(tmp_path, PICTURES)
    [path] = (tmp_path / "assets").iterdir()
    data = bytearray(path.read_bytes())
    data[data.index(PICTURES[4]) + len(PICTURES[4]) // 2] ^= 1
    path.write_bytes(data)
    bank = ImageBank(tmp_path)
    said = f"picture {DIGESTS[4]} in {path} is damaged; delete that file and run `dvc checkout`"
    with pytest.raises(EviflowError) as caught:
        bank.read(DIGESTS[4])
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_a_damaged_file_of_a_bank_is_named(tmp_path: Path) -> None:
    bank = ImageBank(tmp_path)
    path = tmp_path / asset_path(bank.put(PICTURES[0]))
    path.write_bytes(PICTURES[1])
    with pytest.raises(EviflowError, match=f"picture {DIGESTS[0]} in {path} is damaged"):
        bank.read(DIGESTS[0])


@given(share=st.floats(0, 1, exclude_max=True), mask=st.integers(1, 255))
def test_whatever_byte_is_turned_no_reader_gets_other_bytes(share: float, mask: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        pack(Path(folder), PICTURES)
        [path] = Path(folder, "assets").iterdir()
        data = bytearray(path.read_bytes())
        data[int(share * len(data))] ^= mask
        path.write_bytes(data)
        bank = ImageBank(Path(folder))
        for digest, expected in zip(DIGESTS, PICTURES, strict=True):
            try:
                found = bank.read(digest)
            except EviflowError:
                continue
            assert found == expected


def test_a_shard_that_ends_early_is_named(tmp_path: Path) -> None:
    pack(tmp_path, PICTURES)
    [path] = (tmp_path / "assets").iterdir()
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(EviflowError, match=rf"{path} is damaged; delete it and run `dvc checkout`"):
        ImageBank(tmp_path).read(DIGESTS[0])


def test_threads_read_at_once(tmp_path: Path) -> None:
    pictures = [picture(seed, (60, 40)) for seed in range(60)]
    digests = pack(tmp_path, pictures, 100_000)
    bank = ImageBank(tmp_path)
    order = list(range(60)) * 8
    random.Random(0).shuffle(order)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda at: bank.read(digests[at]), order))
    assert found == [pictures[at] for at in order]


MEMORY = """
import io, sys
from pathlib import Path
import numpy as np
from PIL import Image
from components.records.image_bank import ImageBank
from components.records.image_writer import new_shards

def peak():
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1000

def picture(seed):
    buffer = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 255, (370, 370, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(buffer, format="PNG", compress_level=0)
    return buffer.getvalue()

def fill(folder, count):
    folder.mkdir()
    with new_shards(folder) as shards:
        return [shards.put(picture(seed)) for seed in range(count)]

root = Path(sys.argv[1])
few = fill(root / "few", 20)
ImageBank(root / "few").read(few[0])
before = peak()
many = fill(root / "many", 500)
bank = ImageBank(root / "many")
for digest in many:
    bank.read(digest)
print(before, peak())
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_does_not_grow_with_the_bank(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", MEMORY, str(tmp_path)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    stored = sum(path.stat().st_size for path in (tmp_path / "many/assets").iterdir())
    assert stored > 200_000_000
    assert after - before < 40, "MB beyond what twenty pictures take"
