"""`eviflow data review` as users meet it, without serving."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from components.config.paths import Paths
from components.records.case import Attribute, Case, Check, Evidence, Gold, Split, Verdict
from components.records.web import Page, SiteKind
from components.storage.atomic import write_jsonl
from components.world.store import write_pages, write_pictures

ROOT = Path(__file__).parents[3]
URL = "https://gala.example/"


def review(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    argv = [sys.executable, "-m", "components.cli", "--root", str(root), "data", "review", *arguments]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)


def gold(case_id: str) -> Gold:
    return Gold(
        case_id=case_id,
        factual_status=Verdict.SUPPORTED,
        target_claim="The gala was held.",
        acceptable_evidence=(
            Evidence(source_id="e:date", canonical_url=URL, exact_span="was held", stance="supports"),
        ),
        checks=(Check(attribute=Attribute.COUNT, depicted="9", documented="9"),),
        object_kind="kite",
        event_id="e",
        event_title="Gala",
        person_ids=(),
        official_urls=(URL,),
        style="plain",
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("checkout")
    paths = Paths(root)
    paths.params.touch()
    for split in Split:
        ids = [f"{split.value}-{number}" for number in range(30)]
        cases = [Case(case_id=name, image_path="x.png", image_sha256="0" * 64) for name in ids]
        write_jsonl(paths.candidates / f"{split.value}.jsonl", cases)
        write_jsonl(paths.candidates_gold / f"{split.value}.jsonl", [gold(name) for name in ids])
    page = Page(
        url=URL, title="Gala", kind=SiteKind.OFFICIAL, published="2031-01-01", html="", markdown="The gala was held."
    )
    write_pages(paths.web, [page])
    write_pictures(paths.web, [])
    return root


def test_scripted_reviewers_leave_a_settled_review_that_says_what_it_is(checkout: Path) -> None:
    done = review(checkout, "--scripted")
    assert done.returncode == 0, done.stderr
    assert "programs, standing in for people" in done.stdout
    assert "scripted-two 60 (errs 12%)" in done.stdout
    report = json.loads((checkout / "reports/data/case_review.json").read_text())
    assert (report["items"], report["settled"], report["open"], report["scripted"]) == (60, 60, 0, True)
    again = review(checkout, "--status")
    assert again.stdout == done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--reviewers", "ada,ben"), "--reviewers and --adjudicator go together"),
        (("--reviewers", "ada", "--adjudicator", "eve"), "--reviewers names 1 people"),
        (("--status", "--scripted"), "use one of them"),
        (("--scripted", "--renew"), "belong to serving"),
        (("--episodes", "--split", "test"), "goes without --episodes"),
        (("--episodes", "--status"), "nobody reviews episodes yet"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_answered_in_one_sentence(checkout: Path, arguments: tuple[str, ...], said: str) -> None:
    done = review(checkout, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_a_benchmark_there_is_nothing_to_review(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").touch()
    done = review(tmp_path, "--reviewers", "ada,ben", "--adjudicator", "eve")
    assert done.returncode == 1
    assert "eviflow stage world" in done.stderr
    assert not (tmp_path / "reviews").exists()
