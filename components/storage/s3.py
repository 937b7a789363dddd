"""A DVC remote in S3 or in anything that speaks like it, read with boto3."""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from components.errors import EviflowError
from components.storage.depots import LAYOUT, Found, stem

_MD5 = re.compile(r"[0-9a-f]{32}")
_SESSION = {
    "profile": "profile_name",
    "region": "region_name",
    "access_key_id": "aws_access_key_id",
    "secret_access_key": "aws_secret_access_key",
    "session_token": "aws_session_token",
}
"""DVC's options and boto3's names for them; what is not given comes from the environment, as boto3 does it."""
CONNECT_TIMEOUT_S = 10
READ_TIMEOUT_S = 60
ATTEMPTS = 3


class S3Depot:
    """Objects below a prefix of a bucket. Needs `s3:ListBucket` and `s3:GetObject` there."""

    def __init__(self, client: Any, bucket: str, prefix: str, label: str) -> None:
        self._client, self._bucket = client, bucket
        self._prefix = "/".join(part for part in (prefix.strip("/"), LAYOUT) if part)
        self._label = label

    @property
    def label(self) -> str:
        """How to speak of it."""
        return self._label

    def find(self, digests: Collection[str]) -> dict[str, Found]:
        """List, by their first two digits, the parts of the remote that may have them."""
        wanted = set(digests)
        found: dict[str, Found] = {}
        with self._answering():
            for shard in sorted({digest[:2] for digest in wanted}):
                for entry in self._listed(f"{self._prefix}/{shard}/"):
                    digest = shard + entry["Key"].rpartition("/")[2]
                    if digest in wanted:
                        found[digest] = Found(entry["Size"], self._md5(digest, entry))
        return found

    def read(self, digest: str) -> bytes | None:
        """An object's bytes, unchecked; None where there is none."""
        from botocore.exceptions import ClientError

        with self._answering():
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=self._key(digest))
            except ClientError as error:
                if error.response["Error"]["Code"] in {"NoSuchKey", "404"}:
                    return None
                raise
            return bytes(answer["Body"].read())

    def copy(self, digest: str, target: Path) -> None:
        """Download an object's bytes, unchecked, to a file; a large one in parts."""
        with self._answering():
            self._client.download_file(self._bucket, self._key(digest), str(target))

    def _key(self, digest: str) -> str:
        return f"{self._prefix}/{digest[:2]}/{digest[2:]}"

    def _listed(self, prefix: str) -> Iterator[dict[str, Any]]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
        for page in pages:
            yield from page.get("Contents", [])

    def _md5(self, digest: str, entry: Mapping[str, Any]) -> str | None:
        """The entity tag, where it is an MD5: not for an upload in parts, nor for one encrypted with a managed key."""
        tag = entry.get("ETag", "").strip('"')
        if not _MD5.fullmatch(tag):
            return None
        if tag == stem(digest):
            return tag
        head = self._client.head_object(Bucket=self._bucket, Key=self._key(digest))
        return None if head.get("ServerSideEncryption", "").startswith("aws:kms") else tag

    @contextmanager
    def _answering(self) -> Iterator[None]:
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except (Boto3Error, BotoCoreError, ClientError) as error:
            raise EviflowError(
                f"bucket `{self._bucket}` does not answer: {error}; mend its address or your keys (`dvc config --list`)"
            ) from error


def open_s3(url: str, options: Mapping[str, str], label: str) -> S3Depot:
    """The remote at `s3://BUCKET/PREFIX`; nothing is asked of it yet.

    Args:
        url: its address.
        options: those of DVC's configuration for this remote.
        label: how to speak of it.

    """
    import boto3
    from botocore.config import Config

    session = boto3.Session(**{ours: options[name] for name, ours in _SESSION.items() if name in options})
    if "credentialpath" in options:
        session._session.set_config_variable("credentials_file", options["credentialpath"])
    verify = options.get("ssl_verify", "true")
    client = session.client(
        "s3",
        endpoint_url=options.get("endpointurl"),
        use_ssl=options.get("use_ssl", "true").lower() != "false",
        verify={"true": True, "false": False}.get(verify.lower(), verify),
        config=Config(
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=READ_TIMEOUT_S,
            retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        ),
    )
    parts = urlsplit(url)
    return S3Depot(client, parts.netloc, parts.path, label)
