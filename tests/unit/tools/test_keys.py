"""No key in anything that is written: logs, records, failures, recordings."""

import asyncio
import logging
import sqlite3
import traceback
import zlib
from pathlib import Path

import pytest
from vendor_doubles import answer, serving

from components.agent.codec import render_call
from components.agent.loop import Investigation
from components.config.paths import Paths
from components.config.schema import AgentParams, Params, ToolParams
from components.config.settings import ServiceSettings, load_service_settings
from components.records.case import Case
from components.records.episode import Turn
from components.records.image_bank import ImageBank, sha256_hex
from components.tools.services import open_services

MARKER = "marker-7f3a"
NAMES = (
    "SERPER_API_KEY",
    "JINA_API_KEY",
    "BAIDU_OCR_API_KEY",
    "BAIDU_OCR_SECRET_KEY",
    "EVIFLOW_UPLOAD_SECRET_KEY",
)
CALLS = (
    ("text_search", {"query": "gala"}),
    ("text_image_search", {"query": "gala"}),
    ("reverse_image_search", {}),
    ("visit", {"url": "https://example.com/"}),
    ("ocr_with_position", {}),
)


def environment(url: str) -> str:
    keys = [f"{name}={MARKER}-{name.lower()}" for name in NAMES]
    bases = [f"{name}_BASE_URL={url}" for name in ("SERPER", "JINA", "BAIDU")]
    upload = ["EVIFLOW_UPLOAD_BUCKET=b", "EVIFLOW_UPLOAD_KEY_ID=id", "EVIFLOW_UPLOAD_ENDPOINT=http://127.0.0.1:9"]
    return "\n".join([*keys, *bases, *upload])


@pytest.mark.parametrize("fault", [None, "repeats", "refuses"])
def test_a_key_is_in_nothing_that_is_written(
    fault: str | None, tmp_path: Path, picture: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    paths = Paths(tmp_path)
    with serving() as vendors:
        (tmp_path / ".env").write_text(environment(vendors.url))
        every = " ".join(load_service_settings(tmp_path).secrets)
        if fault == "repeats":
            body = {"message": every, "code": 200, "organic": [{"title": every, "link": every}], "images": []}
            page = {"data": {"content": f"{every} is what you sent.", "title": every}}
            for name in ("serper", "jina", "baidu"):
                vendors.faults[name] = lambda: answer({**body, **page, "error_code": 17, "error_msg": every})
        if fault == "refuses":
            for name in ("serper", "jina", "baidu"):
                vendors.faults[name] = lambda: answer({"message": every}, 403)
        params = Params(tools=ToolParams(transport="record", request_timeout_s=2))
        written = asyncio.run(investigate(params, paths, picture))
    logs = "\n".join(record.getMessage() for record in caplog.records if record.name != "werkzeug")
    kept = (tmp_path / params.tools.recording / "answers.sqlite").read_bytes()
    assert MARKER not in written
    assert MARKER not in logs
    assert MARKER.encode() not in kept + b"".join(bodies(tmp_path / params.tools.recording))
    others = [file for file in tmp_path.rglob("*") if file.is_file() and file.name != ".env"]
    assert not [file for file in others if MARKER.encode() in file.read_bytes()]


async def investigate(params: Params, paths: Paths, picture: bytes) -> str:
    """Call every tool; returns the episode and every failure with its causes."""
    case = Case(case_id="c1", image_path="x.png", image_sha256=sha256_hex(picture))
    async with open_services(params, paths, ImageBank(paths.work / "bank")) as services:
        running = Investigation(case, services.toolbox(case, picture), AgentParams(), policy="p", seed=0)
        for name, arguments in CALLS:
            await running.advance(Turn(text=render_call("x", name, arguments)))
        failures = []
        try:
            await services.serper.search("opera")
        except Exception as error:
            failures = traceback.format_exception(error)
        shown = f"{services.serper!r} {services.requester!r} {load_service_settings(paths.root)!r}"
    episode = running.episode()
    assert len(episode.observations) == len(CALLS), [step.feedback for step in episode.steps]
    return episode.model_dump_json() + shown + "".join(failures)


def bodies(folder: Path) -> list[bytes]:
    with sqlite3.connect(folder / "answers.sqlite") as connection:
        rows = [*connection.execute("SELECT body FROM answers"), *connection.execute("SELECT body FROM failures")]
    return [zlib.decompress(body) for (body,) in rows]


def test_settings_do_not_show_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", MARKER)
    held = ServiceSettings()
    assert held.secrets == (MARKER,)
    assert MARKER not in f"{held!r}{held}{held.model_dump_json()}"
