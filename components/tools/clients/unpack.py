"""A body as it arrives, unpacked under a limit: a bomb is refused when it passes the limit, before it goes off."""

import zlib
from typing import Any

from components.tools.clients.errors import ServiceError

ACCEPTED = "gzip, deflate"
"""Codings that are asked for; a body in any other is refused, never unpacked."""

_ZLIB_OR_GZIP = 32 + zlib.MAX_WBITS


class Body:
    """Collects a body.

    Args:
        service: who is blamed for a body that is refused.
        coding: the Content-Encoding header.
        limit: bytes, counted after unpacking.

    Raises:
        ServiceError: a coding that was not asked for, or several on top of each other.

    """

    def __init__(self, service: str, coding: str, limit: int) -> None:
        self._service = service
        self._limit = limit
        self._chunks: list[bytes] = []
        self._size = 0
        coding = coding.strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ServiceError(service, f"a body in coding {coding[:40]!r}")
        self._coding = coding
        self._head = b""
        self._unpacker: Any = None

    def add(self, chunk: bytes) -> None:
        """Take the next bytes as they came; raises ServiceError when they break, or when the body gets too large."""
        if self._coding in ("", "identity"):
            self._keep(chunk)
        elif self._unpacker is None:
            self._begin(chunk)
        else:
            self._unpack(chunk)

    def taken(self) -> bytes:
        """All that has come so far, unpacked."""
        return b"".join(self._chunks)

    def _begin(self, chunk: bytes) -> None:
        """Choose how to unpack by the first two bytes: some servers send deflate without its wrapping."""
        self._head += chunk
        if len(self._head) < 2:
            return
        wrapped = self._head[0] & 15 == 8 and int.from_bytes(self._head[:2], "big") % 31 == 0
        bare = self._coding == "deflate" and not wrapped
        self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS if bare else _ZLIB_OR_GZIP)
        self._unpack(self._head)

    def _unpack(self, chunk: bytes) -> None:
        while chunk:
            if self._unpacker.eof:
                # Another part follows, as gzip allows.
                self._unpacker = zlib.decompressobj(_ZLIB_OR_GZIP)
            try:
                # At most one byte more than may come.
                self._keep(self._unpacker.decompress(chunk, self._limit - self._size + 1))
            except zlib.error as error:
                raise ServiceError(self._service, "a packed body that is broken") from error
            chunk = self._unpacker.unused_data

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._limit:
            raise ServiceError(self._service, f"a body of more than {self._limit} bytes")
        self._chunks.append(data)
