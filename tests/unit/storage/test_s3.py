"""A bucket as a place of objects, on a real S3 server."""

from pathlib import Path

import pytest
from object_server import ACCESS_KEY, SECRET_KEY, ObjectServer

from components.errors import EviflowError
from components.storage.depots import Found, bytes_md5
from components.storage.s3 import S3Depot, open_s3

pytestmark = pytest.mark.slow
PART = 5 * 2**20


def depot(server: ObjectServer, bucket: str, **options: str) -> S3Depot:
    keys = {"access_key_id": ACCESS_KEY, "secret_access_key": SECRET_KEY, "region": "us-east-1"}
    return open_s3(f"s3://{bucket}/some/prefix", {"endpointurl": server.endpoint, **keys, **options}, "there")


def key(digest: str) -> str:
    return f"some/prefix/files/md5/{digest[:2]}/{digest[2:]}"


def test_objects_are_found_by_their_bytes_and_read(object_server: ObjectServer, tmp_path: Path) -> None:
    client, digest = object_server.client(), bytes_md5(b"page")
    client.create_bucket(Bucket="reading")
    place = depot(object_server, "reading")
    assert place.find([digest]) == {}
    assert place.read(digest) is None
    client.put_object(Bucket="reading", Key=key(digest), Body=b"page")
    client.put_object(Bucket="reading", Key=key(digest) + ".dir", Body=b"pagf")
    assert place.find([digest, f"{digest}.dir"]) == {
        digest: Found(4, digest),
        f"{digest}.dir": Found(4, bytes_md5(b"pagf")),
    }
    assert place.read(digest) == b"page"
    place.copy(digest, tmp_path / "page")
    assert (tmp_path / "page").read_bytes() == b"page"


def test_more_objects_than_one_answer_holds_are_all_found(object_server: ObjectServer) -> None:
    client = object_server.client()
    client.create_bucket(Bucket="many")
    digests = [f"ab{number:030d}" for number in range(1010)]
    for digest in digests:
        client.put_object(Bucket="many", Key=key(digest), Body=b"")
    assert set(depot(object_server, "many").find(digests)) == set(digests)


def test_an_upload_in_parts_tells_its_size_only(object_server: ObjectServer) -> None:
    client, content = object_server.client(), bytes(PART + 3)
    digest = bytes_md5(content)
    client.create_bucket(Bucket="parts")
    place = {"Bucket": "parts", "Key": key(digest)}
    upload = client.create_multipart_upload(**place)["UploadId"]
    parts = [
        {
            "PartNumber": number,
            "ETag": client.upload_part(**place, UploadId=upload, PartNumber=number, Body=body)["ETag"],
        }
        for number, body in enumerate((content[:PART], content[PART:]), 1)
    ]
    client.complete_multipart_upload(**place, UploadId=upload, MultipartUpload={"Parts": parts})
    assert depot(object_server, "parts").find([digest]) == {digest: Found(PART + 3, None)}


def test_a_bucket_that_is_not_there_and_keys_that_are_wrong_are_one_sentence(object_server: ObjectServer) -> None:
    with pytest.raises(EviflowError, match="bucket `nowhere` does not answer"):
        depot(object_server, "nowhere").find(["ab" * 16])
    with pytest.raises(EviflowError, match="bucket `ready` does not answer"):
        depot(object_server, "ready", secret_access_key="wrong").find(["ab" * 16])
