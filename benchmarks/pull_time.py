"""How much faster DVC pulls a benchmark's pictures from S3 in shards than as single files.

The same pictures, random PNGs as large as the drawn ones, are pushed to an S3 server on this machine (SeaweedFS) from
two repositories, once as files and once as the product keeps them, and pulled into fresh clones with an empty cache.
Every picture is then read through the image bank. Times and CPU-seconds are DVC's own, without the server's.

.venv/bin/python -m benchmarks.pull_time --pictures 10000
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

from components.records.image_bank import ImageBank
from components.records.image_writer import SHARD_BYTES, new_shards
from components.storage.dvc import environment
from tests.object_server import ACCESS_KEY, SECRET_KEY, ObjectServer, running

BUCKET = "pictures"
WIDTH, HEIGHTS = 160, (106, 157)
"""Pixels; noise does not compress, so that files have 51 to 75 KB, as drawn photographs do."""
WANTED = 5.0
POLL_S = 0.02
KINDS = ("files", "shards")


class Cost(NamedTuple):
    """What a command took."""

    seconds: float
    cpu: float
    """Seconds, of user and system."""
    peak: float
    """MB of memory."""


def pictures(count: int) -> Iterator[bytes]:
    import cv2

    rng = np.random.default_rng(1)
    for _ in range(count):
        pixels = rng.integers(0, 256, (int(rng.integers(*HEIGHTS)), WIDTH, 3), dtype=np.uint8)
        yield cv2.imencode(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, 0])[1].tobytes()


def fill(root: Path, kind: str, count: int, limit: int) -> list[str]:
    """Write the pictures to `data` of a repository; returns their hashes."""
    folder = root / "data"
    folder.mkdir()
    if kind == "files":
        bank = ImageBank(folder)
        return [bank.put(data) for data in pictures(count)]
    with new_shards(folder, limit) as shards:
        return [shards.put(data) for data in pictures(count)]


def start_repository(root: Path, server: ObjectServer) -> None:
    root.mkdir()
    call(root, "git", "init", "--quiet")
    call(root, "git", "config", "user.email", "a@b.example")
    call(root, "git", "config", "user.name", "a")
    dvc(root, "init", "--quiet")
    dvc(root, "remote", "add", "--default", "storage", f"s3://{BUCKET}/{root.name}")
    dvc(root, "remote", "modify", "storage", "endpointurl", server.endpoint)
    give_keys(root)


def give_keys(root: Path) -> None:
    dvc(root, "remote", "modify", "--local", "storage", "access_key_id", ACCESS_KEY)
    dvc(root, "remote", "modify", "--local", "storage", "secret_access_key", SECRET_KEY)


def push(root: Path) -> Cost:
    dvc(root, "add", "--quiet", "data")
    call(root, "git", "add", "--all")
    call(root, "git", "commit", "--quiet", "--message", "data")
    return dvc(root, "push", "--quiet")


def pull(root: Path, digests: list[str]) -> Cost:
    """Into a fresh clone that goes again; every picture must have arrived."""
    clone = root.with_name(f"{root.name}-clone")
    call(root, "git", "clone", "--quiet", str(root), str(clone))
    give_keys(clone)
    cost = dvc(clone, "pull", "--quiet")
    bank = ImageBank(clone / "data")
    for digest in digests:
        bank.read(digest)
    shutil.rmtree(clone)
    return cost


def dvc(root: Path, *arguments: str) -> Cost:
    return call(root, sys.executable, "-m", "dvc", *arguments)


def call(root: Path, *argv: str) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(argv, cwd=root, env=environment(), stdout=subprocess.DEVNULL)
    watched, peak, ended = psutil.Process(process.pid), 0, 0
    while not ended:
        # The kernel's own peak would count this process too, which the command is a copy of when it starts.
        peak = max(peak, watched.memory_info().rss)
        time.sleep(POLL_S)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(argv)} failed in {root}")
    return Cost(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, peak / 1e6)


def show(what: str, cost: Cost) -> None:
    print(f"{what:24}{cost.seconds:8.1f} s{cost.cpu:8.1f} s CPU{cost.peak:7.0f} MB", flush=True)


def middle(costs: list[Cost]) -> Cost:
    return Cost(*(statistics.median(values) for values in zip(*costs, strict=True)))


def measure(folder: Path, count: int, rounds: int, limit: int) -> dict[str, Cost]:
    """The median pull of each kind; the two take turns, so that other work on the machine falls on both."""
    with running(folder) as server:
        server.client().create_bucket(Bucket=BUCKET)
        roots, digests = {kind: folder / kind for kind in KINDS}, list[str]()
        for kind, root in roots.items():
            start_repository(root, server)
            digests = fill(root, kind, count, limit)
            stored = [path.stat().st_size for path in (root / "data").rglob("*") if path.is_file()]
            print(f"{count} pictures as {kind}: {len(stored)} files, {sum(stored) / 1e6:.0f} MB", flush=True)
            show(f"push {kind}", push(root))
        pulls: dict[str, list[Cost]] = {kind: [] for kind in KINDS}
        for _ in range(rounds):
            for kind, root in roots.items():
                pulls[kind].append(pull(root, digests))
                show(f"pull {kind}", pulls[kind][-1])
    return {kind: middle(costs) for kind, costs in pulls.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--shard-bytes", type=int, default=SHARD_BYTES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="eviflow-pull-") as folder:
        taken = measure(Path(folder), options.pictures, options.rounds, options.shard_bytes)
    ratio = taken["files"].seconds / taken["shards"].seconds
    cpu = taken["files"].cpu / taken["shards"].cpu
    print(f"median pull: {ratio:.1f} times as fast in shards, with {cpu:.1f} times less CPU; wanted {WANTED:.0f} times")
    sys.exit(ratio < WANTED)


if __name__ == "__main__":
    main()
