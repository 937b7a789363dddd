"""Shards of pictures as DVC's objects in a real S3 server: counted, compared by content, brought back."""

import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from object_server import ObjectServer
from PIL import Image
from s3fs.core import calculate_chunksize
from versions_lab import BUCKET, Lab, S3Remote

from components.records.image_bank import ImageBank
from components.records.image_writer import SHARD_BYTES, new_shards
from components.storage.rollback import ObjectsMissing, roll_back
from components.storage.verify import verify_objects

pytestmark = pytest.mark.slow


def picture(seed: int) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 255, (800, 800, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="PNG", compress_level=0)
    return buffer.getvalue()


def pack(root: Path, seeds: range) -> list[str]:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    with new_shards(root, 12_000_000) as shards:
        return [shards.put(picture(seed)) for seed in seeds]


def test_shards_are_verified_by_content_and_rolled_back(lab: Lab, object_server: ObjectServer) -> None:
    s3 = S3Remote(object_server, "shards")
    s3.attach(lab)
    for seeds in (range(10), range(14)):
        digests = pack(lab.root / "pictures", seeds)
        lab.dvc("add", "--quiet", "pictures")
        lab.git("add", ".")
        lab.git("commit", "--quiet", "-m", f"{len(seeds)} pictures")
        lab.dvc("push", "--quiet")
    assert len(list((lab.root / "pictures/assets").iterdir())) == 3
    whole = verify_objects(lab.root)
    assert (whole.objects, whole.faults) == (10, [])

    lab.forget()
    shutil.rmtree(lab.root / "pictures")
    roll_back(lab.paths, "HEAD~1")
    bank = ImageBank(lab.root / "pictures")
    assert [bank.read(digest) for digest in digests[:10]] == [picture(seed) for seed in range(10)]
    assert digests[10] not in bank
    roll_back(lab.paths, "HEAD")

    largest = max(lab.objects(), key=lambda digest: lab.cached(digest).stat().st_size)
    data = bytearray(lab.cached(largest).read_bytes())
    data[len(data) // 2] ^= 1
    s3.client.put_object(Bucket=BUCKET, Key=s3.key(largest), Body=bytes(data))
    [fault] = verify_objects(lab.root).faults
    assert (fault.what, fault.place, fault.needed.digest) == ("damaged", "in remote `storage`", largest)
    lab.forget(largest)
    with pytest.raises(ObjectsMissing, match=r"1 object of .* is to be had neither here nor in remote"):
        roll_back(lab.paths, "HEAD")


def test_a_full_shard_is_uploaded_in_one_piece_so_that_s3_tells_its_md5() -> None:
    assert 2 * calculate_chunksize(SHARD_BYTES) > SHARD_BYTES
