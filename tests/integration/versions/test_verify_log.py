"""What `eviflow data verify` and `eviflow data log` say about a real repository."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from versions_lab import Lab

from components.config.settings import Settings
from components.storage.dvc import Out
from components.storage.rollback import roll_back
from components.storage.verify import verify_objects
from components.storage.versions import read_version
from components.tracking.datasets import log_datasets
from components.tracking.models import log_checkpoint
from components.tracking.runs import close_run, open_run
from components.tracking.store import DATABASE, open_store

if TYPE_CHECKING:
    from conftest import Pushed

pytestmark = pytest.mark.slow


def digest_of(lab: Lab, path: str) -> str:
    [out] = [out for out in read_version(lab.root, "HEAD").outs if out.path == path]
    return out.digest


def test_a_whole_version_is_said_to_be_whole(pushed: "Pushed") -> None:
    for arguments in ((), ("HEAD~1",)):
        done = pushed.lab.eviflow("data", "verify", *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "6 objects are whole here and in remote `storage`\n"


def test_missing_and_damaged_objects_are_named_with_their_place(pushed: "Pushed") -> None:
    lab, s3 = pushed
    facts, notes = digest_of(lab, "data/facts.json"), digest_of(lab, "notes.txt")
    lab.cached(facts).chmod(0o644)
    lab.cached(facts).write_text('{"seed": 3}')
    s3.damage(facts)
    s3.remove(notes)
    done = lab.eviflow("data", "verify")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"damaged here: data/facts.json ({facts})",
        f"damaged in remote `storage`: data/facts.json ({facts})",
        f"missing in remote `storage`: notes.txt ({notes})",
    ]
    assert done.stderr.startswith("eviflow: 3 faults in 6 objects here and in remote `storage`; ")


def test_a_folder_whose_list_is_gone_is_one_fault(lab: Lab) -> None:
    web = digest_of(lab, "data/web")
    lab.forget(web)
    [fault] = verify_objects(lab.root).faults
    assert (fault.what, fault.place, fault.needed.path) == ("missing", "here", "data/web")


def test_only_so_many_faults_are_named(lab: Lab) -> None:
    lab.forget()
    done = lab.eviflow("data", "verify", "--limit", "1")
    assert len(done.stdout.splitlines()) == 2
    assert done.stdout.endswith("... and 2 more\n")


def test_the_log_tells_versions_counts_runs_and_models(lab: Lab, migrated_database: Path) -> None:
    shutil.copy(migrated_database, lab.root / DATABASE)
    store = open_store(lab.paths, "eviflow", Settings())
    first = read_version(lab.root, "HEAD~1")
    run_id = open_run(store, "sft", "identity")
    used = [Out(out.path, out.digest, out.size) for out in first.outs if out.path != "notes.txt"]
    log_datasets(store, run_id, used, "training", {})
    (lab.root / "model").mkdir()
    (lab.root / "model/config.json").write_text("{}")
    log_checkpoint(store, lab.root / "model", "student", run_id, {}, {})
    close_run(store, run_id)
    trained = f"sft {run_id[:8]} finished, student/1 (candidate)"

    listed = lab.eviflow("data", "log").stdout.splitlines()
    second = read_version(lab.root, "HEAD")
    assert listed[0].startswith(f"* {second.short}  {second.date[:10]}")
    assert listed[0].endswith(f"{second.digest[:12]}  3 outputs  5 files  {sum(out.size for out in second.outs)} bytes")
    assert listed[1:3] == ["    version 2", listed[2]]
    assert listed[2].startswith(f"  {first.short}")
    assert listed[3:] == ["    version 1", f"    trained: {trained}"]

    done = lab.eviflow("data", "rollback", "HEAD~1")
    assert f"trained on it: {trained}" in done.stdout
    assert lab.eviflow("data", "log", "--limit", "1").stdout.splitlines()[-1].startswith("the checkout is at none")


def test_looking_makes_no_store(lab: Lab) -> None:
    done = lab.eviflow("data", "log")
    assert done.returncode == 0, done.stderr
    roll_back(lab.paths, "HEAD~1")
    assert not (lab.root / DATABASE).exists()


def test_without_git_there_are_no_versions(lab: Lab) -> None:
    shutil.rmtree(lab.root / ".git")
    done = lab.eviflow("data", "log")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "is no git repository" in done.stderr
