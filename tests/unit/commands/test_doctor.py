"""`eviflow doctor` against services that work, break, refuse and are missing."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openai_double import KEY, MODEL, chatting, reply
from vendor_doubles import COMMON, QUOTA, Vendors, answer, serving

ROOT = Path(__file__).parents[3]
KEYS = {
    "SERPER_API_KEY": "marker-key-serper",
    "JINA_API_KEY": "marker-key-jina",
    "BAIDU_OCR_API_KEY": "marker-key-baidu",
    "BAIDU_OCR_SECRET_KEY": "marker-secret-baidu",
}


@pytest.fixture
def vendors() -> Iterator[Vendors]:
    with serving() as vendors:
        yield vendors


@pytest.fixture
def checkout(tmp_path: Path, vendors: Vendors) -> Path:
    (tmp_path / "params.yaml").write_text("tools: {request_timeout_s: 1.0}\n")
    lines = [f"{name}={value}\n" for name, value in KEYS.items()]
    lines += [f"{name}_BASE_URL={vendors.url}\n" for name in ("SERPER", "JINA", "BAIDU")]
    (tmp_path / ".env").write_text("".join(lines))
    return tmp_path


def doctor(root: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "components.cli", "--debug", "--root", str(root), "doctor", *options]
    held = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run(argv, cwd=ROOT, env=held, capture_output=True, text=True, check=False)
    assert "marker-" not in done.stdout + done.stderr, "no key is ever shown"
    return done


def probes(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return {probe["service"]: probe for probe in json.loads(done.stdout)["probes"]}


def test_what_works_is_said_with_its_cost_and_what_is_missing_with_its_variable(checkout: Path) -> None:
    done = doctor(checkout, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = probes(done)
    assert {name: probe["state"] for name, probe in found.items()} == {
        "search": "works",
        "image search": "works",
        "reverse image search": "missing",
        "picture upload": "missing",
        "page reader": "works",
        "text recognition": "works",
    }
    assert found["picture upload"]["detail"] == "set EVIFLOW_UPLOAD_BUCKET"
    assert found["text recognition"]["detail"] == "EviFlow"
    assert found["search"]["cost_usd"] == 0.001
    assert found["page reader"]["cost_usd"] == pytest.approx(120 * 0.05 / 1e6)


def test_people_get_a_table(checkout: Path) -> None:
    done = doctor(checkout)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["service", "state", "seconds", "USD"]
    assert lines[1].startswith("search                works")
    assert "0.00401 USD in all, at list prices of 2025-06-30" in done.stdout
    assert "tools.transport is world: the agent asks none of these services" in done.stdout


@pytest.mark.parametrize("fault", ["hangs", "half", "no json", "html", "401"])
def test_a_service_that_breaks_fails_and_the_others_work(checkout: Path, vendors: Vendors, fault: str) -> None:
    vendors.faults["jina"] = COMMON[fault]
    done = doctor(checkout, "--json")
    assert done.returncode == 1
    found = probes(done)
    assert [name for name, probe in found.items() if probe["state"] == "fails"] == ["page reader"]
    assert found["page reader"]["detail"]
    assert ("look at JINA_API_KEY" in found["page reader"]["detail"]) == (fault in ("401", "403"))


def test_quotas_and_tokens_are_told(checkout: Path, vendors: Vendors) -> None:
    vendors.faults |= {"serper": QUOTA["serper"], "baidu": QUOTA["baidu"]}
    found = probes(doctor(checkout, "--json"))
    assert "Not enough credits; look at SERPER_API_KEY" in found["search"]["detail"]
    assert "error 17: Open api daily request limit reached" in found["text recognition"]["detail"]
    vendors.faults = {"baidu": lambda: answer({"error_code": 111, "error_msg": "Access token expired"})}
    assert "error 111" in probes(doctor(checkout, "--json"))["text recognition"]["detail"]


def test_a_service_that_repeats_our_key_does_not_get_it_shown(checkout: Path, vendors: Vendors) -> None:
    vendors.faults["serper"] = lambda: answer({"message": f"bad key {' '.join(KEYS.values())}"}, 400)
    assert "bad key [key]" in probes(doctor(checkout, "--json"))["search"]["detail"]


def test_half_a_key_is_a_mistake(checkout: Path) -> None:
    text = (checkout / ".env").read_text()
    (checkout / ".env").write_text(text.replace("BAIDU_OCR_SECRET_KEY", "OTHER"))
    done = doctor(checkout, "--json")
    assert done.returncode == 1
    assert probes(done)["text recognition"]["detail"] == "set BAIDU_OCR_SECRET_KEY"


def test_what_the_agent_needs_must_be_there(checkout: Path) -> None:
    (checkout / "params.yaml").write_text("tools: {transport: live}\n")
    done = doctor(checkout)
    assert done.returncode == 1
    assert "tools.transport is live: the agent asks these services" in done.stdout


def test_the_environment_goes_before_the_file(checkout: Path) -> None:
    found = probes(doctor(checkout, "--json", JINA_BASE_URL="http://127.0.0.1:9"))
    assert "no connection" in found["page reader"]["detail"]


@pytest.mark.incident("SV-8")
def test_the_model_that_looks_is_asked_too_where_one_is_to(checkout: Path) -> None:
    counted = json.dumps({"target": "word", "count": 1, "confidence": 1, "details": "", "locations": []})
    (checkout / "params.yaml").write_text(f"tools: {{perception: model, perception_model: {MODEL}}}\n", "utf-8")
    assert probes(doctor(checkout, "--json"))["vision model"]["detail"] == "set EVIFLOW_VISION_URL"
    with chatting() as server:
        server.gives(reply(counted, ids=None, logprobs=None), reply("a few", ids=None, logprobs=None))
        found = [
            probes(doctor(checkout, "--json", EVIFLOW_VISION_URL=server.url, EVIFLOW_VISION_KEY=KEY))["vision model"]
            for _ in range(2)
        ]
    assert [one["state"] for one in found] == ["works", "fails"]
    assert found[0]["detail"] == f"{MODEL} counts 1 words in a picture of one"
    assert found[1]["detail"] == "a reply that is no JSON"


@pytest.mark.incident("SV-8")
def test_a_model_that_stages_are_to_ask_is_tried_out_as_they_do(checkout: Path) -> None:
    assert "language model" not in probes(doctor(checkout, "--json"))
    with chatting() as server:
        prices = "prices: {models: {openai-*: {input_usd: 1, output_usd: 2}}}"
        asked = f"episodes: {{policy: '{server.policy}'}}\nevaluation: {{served: '{server.policy}'}}\n{prices}\n"
        (checkout / "params.yaml").write_text(asked, "utf-8")
        server.gives(reply(None, calls=[("note", "{}")], finish="tool_calls"), reply("ready"))
        found = [probes(doctor(checkout, "--json", EVIFLOW_OPENAI_KEY=KEY))["language model"] for _ in range(2)]
        assert len(server.bodies) == 2, "one server is tried once"
    assert [one["state"] for one in found] == ["works", "fails"]
    assert found[0]["detail"] == f"{MODEL}: model known, calls parsed, token ids and log-probabilities"
    assert found[0]["cost_usd"] == pytest.approx(46e-6)
    assert "it made no call though it was asked to; start it with its tool parser" in found[1]["detail"]
