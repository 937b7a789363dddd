"""Recording and replay behind the same clients."""

import asyncio
import json
import shutil
import subprocess
import sys
import zlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from vendor_doubles import COMMON, Vendors, answer, serving
from werkzeug import Response

from components.config.paths import Paths
from components.config.schema import Params, ToolParams
from components.errors import EviflowError, PreflightError, UsageError
from components.records.image_bank import sha256_hex
from components.rollout.work import recorded_inputs
from components.tools.clients.baidu_ocr import BaiduOcrClient
from components.tools.clients.errors import NotThere, OffLimits, ServiceError
from components.tools.clients.guard import GuardedTransport
from components.tools.clients.http import Requester
from components.tools.clients.jina import JinaClient
from components.tools.clients.pictures import PictureClient
from components.tools.clients.serper import SerperClient
from components.tools.connections import connected
from components.tools.recording import DATABASE, SEAL, read_seal, recorded, replayed
from components.tools.request_key import asked, asked_by
from components.tools.transports import NetworkTransport, RecordTransport, ReplayTransport

KEYS = ["marker-key-serper", "marker-key-jina", "marker-key-baidu", "marker-secret-baidu"]
PICTURE = bytes(range(256))
Use = Callable[[Requester, str], Awaitable[Any]]


@pytest.fixture
def vendors() -> Iterator[Vendors]:
    with serving() as vendors:
        yield vendors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "recording"


PATIENCE_S = 10.0
IMPATIENT_S = 0.6
"""Where a vendor never answers."""


def record(use: Use, vendors: Vendors, folder: Path, timeout_s: float = PATIENCE_S) -> Any:
    async def go() -> Any:
        secrets = list(KEYS)
        with recorded(folder) as recording:
            async with Requester(
                RecordTransport(NetworkTransport(), recording, secrets), timeout_s, secrets
            ) as requester:
                return await use(requester, vendors.url)

    return asyncio.run(go())


def replay(use: Use, folder: Path, timeout_s: float = PATIENCE_S) -> Any:
    async def go() -> Any:
        with replayed(folder) as recording:
            async with Requester(ReplayTransport(recording), timeout_s) as requester:
                return await use(requester, "http://127.0.0.1:9")

    return asyncio.run(go())


async def everything(requester: Requester, url: str) -> list[Any]:
    serper = SerperClient(requester, KEYS[0], url)
    lens = f"https://bucket.example/eviflow/ab12/{sha256_hex(PICTURE)}.png?X-Amz-Signature=abc"
    found = [await serper.search("gala"), await serper.images("gala"), await serper.lens(lens)]
    page = await JinaClient(requester, KEYS[1], url).read("https://example.com/")
    return [*found, page, await BaiduOcrClient(requester, KEYS[2], KEYS[3], url).read(PICTURE)]


def test_a_recording_answers_as_the_vendors_did_with_no_vendor_there(vendors: Vendors, folder: Path) -> None:
    told = record(everything, vendors, folder)
    assert replay(everything, folder) == told
    assert sorted(path.name for path in folder.iterdir()) == [DATABASE, SEAL]
    assert read_seal(folder).answers == 6


def test_a_question_is_asked_once_and_pictures_are_known_by_their_content(vendors: Vendors, folder: Path) -> None:
    async def again(requester: Requester, url: str) -> None:
        await asyncio.gather(*(SerperClient(requester, KEYS[0], url).search("gala") for _ in range(8)))
        for token in ("ab", "cd"):
            address = f"https://bucket.example/{token}/{sha256_hex(PICTURE)}.png?X-Amz-Signature={token}"
            await SerperClient(requester, "another-key", url).lens(address)

    record(again, vendors, folder)
    assert sorted(vendors.asked) == ["/lens", "/search"]


def test_another_picture_is_another_question(vendors: Vendors, folder: Path) -> None:
    async def two(requester: Requester, url: str) -> None:
        ocr = BaiduOcrClient(requester, KEYS[2], KEYS[3], url)
        await ocr.read(PICTURE)
        await ocr.read(PICTURE[::-1])
        await ocr.read(PICTURE)

    record(two, vendors, folder)
    assert len(vendors.asked) == 2


def test_a_picture_within_a_request_is_known_by_its_hash() -> None:
    def question(picture: str) -> str:
        part = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{picture}"}}
        body = {"model": "m", "messages": [{"role": "user", "content": [part, {"type": "text", "text": "Who?"}]}]}
        return asked(httpx.Request("POST", "https://model.example/v1/chat/completions", json=body)).text

    assert len(question("AAAA" * 10_000)) < 500
    assert "//[x" in asked(httpx.Request("POST", "https://google.serper.dev/search", json={"q": "a //[x"})).text
    assert "Who?" in question("AAAA")
    assert question("AAAA") == question("AAAA") != question("AAAB")


def test_nothing_secret_is_kept(vendors: Vendors, folder: Path) -> None:
    vendors.faults["jina"] = lambda: answer({"code": 200, "data": {"content": f"you sent {' '.join(KEYS)}"}})
    told = record(everything, vendors, folder)
    kept = (folder / DATABASE).read_bytes()
    with replayed(folder) as recording:
        bodies = [body for (body,) in recording._connection.execute("SELECT body FROM answers")]
        requests = " ".join(text for (text,) in recording._connection.execute("SELECT request FROM answers"))
    plain = b"".join(map(zlib.decompress, bodies))
    for secret in (*KEYS, vendors.good_token):
        assert secret.encode() not in kept + requests.encode() + plain
        assert secret not in str(told)
    assert "bucket.example" not in requests
    assert f"sha256:{sha256_hex(PICTURE)}" in requests


def test_what_was_never_asked_is_named(vendors: Vendors, folder: Path) -> None:
    record(everything, vendors, folder)

    async def other(requester: Requester, url: str) -> None:
        await SerperClient(requester, "k", url).search("opera")

    with pytest.raises(ServiceError, match=r'no answer to: POST https://google.serper.dev/search .*"q": "opera"'):
        replay(other, folder)


@pytest.mark.parametrize("fault", [*COMMON, "missing page"])
def test_a_failure_is_replayed_as_it_was(fault: str, vendors: Vendors, folder: Path) -> None:
    missing = {"code": 200, "data": {"content": "", "warning": "Target URL returned error 404: Not Found"}}
    vendors.faults["jina"] = COMMON.get(fault, lambda: answer(missing))

    async def fail(requester: Requester, url: str) -> str:
        with asked_by("c1 s0 o1"), pytest.raises((ServiceError, NotThere)) as caught:
            await JinaClient(requester, KEYS[1], url).read("https://example.com/")
        return f"{type(caught.value).__name__}: {caught.value}"

    told = record(fail, vendors, folder, IMPATIENT_S)
    assert replay(fail, folder, IMPATIENT_S) == told


def test_each_asker_meets_its_own_failures(vendors: Vendors, folder: Path) -> None:
    async def search(requester: Requester, url: str, asker: str) -> str:
        with asked_by(asker):
            try:
                return (await SerperClient(requester, KEYS[0], url).search("gala"))[0].title
            except ServiceError as error:
                return str(error)

    async def unlucky_then_lucky(requester: Requester, url: str) -> list[str]:
        vendors.faults["serper"] = COMMON["403"]
        first = await search(requester, url, "first")
        vendors.faults["serper"] = COMMON["502"]
        overcome = asyncio.create_task(search(requester, url, "second"))
        while vendors.asked.count("/search") < 2:
            await asyncio.sleep(0.01)
        vendors.faults.clear()
        return [first, await overcome, await search(requester, url, "third")]

    async def backwards(requester: Requester, url: str) -> list[str]:
        return [await search(requester, url, name) for name in ("third", "second", "first")]

    told = record(unlucky_then_lucky, vendors, folder)
    assert told == ["search: status 403", "Gala", "Gala"]
    assert replay(backwards, folder) == told[::-1]
    assert read_seal(folder).failures == 1, "what was overcome is forgotten"


def test_a_recording_grows_by_further_runs_and_is_sealed_again(vendors: Vendors, folder: Path, tmp_path: Path) -> None:
    async def search(requester: Requester, url: str) -> None:
        await SerperClient(requester, KEYS[0], url).search("gala")

    record(search, vendors, folder)
    first = read_seal(folder)
    linked = tmp_path / "cache"
    linked.hardlink_to(folder / DATABASE)
    record(everything, vendors, folder)
    assert read_seal(folder).answers == 6
    assert sha256_hex(linked.read_bytes()) == first.sha256, "what a cache of data holds is never written to"
    assert vendors.asked.count("/search") == 1


CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from components.tools.clients.http import Requester
from components.tools.clients.serper import SerperClient
from components.tools.recording import recorded
from components.tools.transports import NetworkTransport, RecordTransport
async def go():
    with recorded(Path(sys.argv[1])) as recording:
        async with Requester(RecordTransport(NetworkTransport(), recording), 5) as requester:
            await SerperClient(requester, "k", sys.argv[2]).search("gala")
            os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(go())
"""


def test_a_killed_run_leaves_what_it_has_and_no_seal(vendors: Vendors, folder: Path) -> None:
    root = str(Path(__file__).parents[3])
    argv = [sys.executable, "-c", CHILD, str(folder), vendors.url]
    assert subprocess.run(argv, cwd=root, check=False).returncode == -9
    with pytest.raises(EviflowError, match="is not sealed"), replayed(folder):
        pass
    record(everything, vendors, folder)
    assert vendors.asked.count("/search") == 1, "what was kept is not asked again"
    assert replay(everything, folder)


def test_one_process_records_at_a_time(folder: Path) -> None:
    with recorded(folder) as recording:
        recording.overcome("x", "y")
        with pytest.raises(UsageError, match="another process may be recording"), recorded(folder):
            pass


def test_a_damaged_or_absent_recording_is_named(vendors: Vendors, folder: Path) -> None:
    with pytest.raises(UsageError, match="holds no recording"), replayed(folder):
        pass
    record(everything, vendors, folder)
    with (folder / DATABASE).open("ab") as file:
        file.write(b"x")
    with pytest.raises(EviflowError, match="not the file that was sealed"), replayed(folder):
        pass


def test_a_seal_is_part_of_what_a_rollout_depends_on() -> None:
    assert recorded_inputs(ToolParams()) == ()
    replaying = ToolParams(transport="replay", recording="recordings/a")
    assert recorded_inputs(replaying) == ("recordings/a/seal.json",)


@pytest.mark.parametrize("transport", ["live", "record"])
def test_the_vendors_are_not_asked_without_keys(tmp_path: Path, transport: str) -> None:
    (tmp_path / ".env").write_text("SERPER_API_KEY=abc\n")
    params = Params(tools=ToolParams(transport=transport))
    wanted = "JINA_API_KEY, BAIDU_OCR_API_KEY, BAIDU_OCR_SECRET_KEY, EVIFLOW_UPLOAD_BUCKET must be set"
    with pytest.raises(PreflightError, match=wanted), connected(params, Paths(tmp_path)):
        pass
    assert not (tmp_path / "recordings").exists()


def test_a_recording_can_be_versioned_by_dvc(vendors: Vendors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "recordings/first"
    record(everything, vendors, folder)
    monkeypatch.setenv("DVC_NO_ANALYTICS", "1")
    dvc = [sys.executable, "-m", "dvc"]
    subprocess.run([*dvc, "init", "--no-scm", "-q"], cwd=tmp_path, check=True)
    subprocess.run([*dvc, "add", "-q", "recordings/first"], cwd=tmp_path, check=True)
    shutil.rmtree(folder)
    subprocess.run([*dvc, "checkout", "-q"], cwd=tmp_path, check=True)
    assert replay(everything, folder)
    assert json.loads((folder / SEAL).read_text())["answers"] == 6


def test_an_endless_answer_is_a_failure_when_replayed_too(vendors: Vendors, folder: Path) -> None:
    vendors.faults["serper"] = lambda: Response(b"\0" * (25 * 2**20))

    async def fail(requester: Requester, url: str) -> str:
        with pytest.raises(ServiceError, match="more than") as caught:
            await SerperClient(requester, "k", url).search("gala")
        return str(caught.value)

    assert record(fail, vendors, folder) == replay(fail, folder)


def test_a_picture_off_the_public_web_is_refused_and_replays_as_refused(folder: Path, tmp_path: Path) -> None:
    """What a guard forbids is recorded like any failure, so that a replay forbids it in the same words."""
    address = "http://127.0.0.1:80/latest/meta-data/photo.png"

    async def refused(transport: httpx.AsyncBaseTransport) -> str:
        async with Requester(transport, 0.6) as requester:
            with pytest.raises(OffLimits) as told:
                await PictureClient(requester).download(address)
        return str(told.value)

    with recorded(folder) as recording:
        first = asyncio.run(refused(RecordTransport(GuardedTransport(), recording)))
    with replayed(folder) as recording:
        assert asyncio.run(refused(ReplayTransport(recording))) == first
    assert "not on the public web" in first


def test_only_addresses_that_the_web_names_go_through_the_guard(tmp_path: Path) -> None:
    names = ("SERPER_API_KEY", "JINA_API_KEY", "BAIDU_OCR_API_KEY", "BAIDU_OCR_SECRET_KEY")
    lines = [f"{name}=marker-key" for name in names]
    (tmp_path / ".env").write_text("\n".join([*lines, "EVIFLOW_UPLOAD_BUCKET=bucket"]), "utf-8")

    async def download(transport: httpx.AsyncBaseTransport) -> None:
        async with Requester(transport, 0.6) as requester:
            await PictureClient(requester).download("http://127.0.0.1:9/photo.png")

    with connected(Params(tools=ToolParams(transport="live")), Paths(tmp_path)) as link:
        with pytest.raises(OffLimits):
            asyncio.run(download(link.web))
        with pytest.raises(ServiceError):
            asyncio.run(download(link.transport))
