"""Rolling back and forth in a real repository, with a real DVC and a real S3 server."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from versions_lab import Lab, environment

from components.errors import EviflowError, PreflightError, UsageError
from components.storage.lock import hold_checkout
from components.storage.rollback import ObjectsMissing, plan_rollback, roll_back
from components.storage.versions import read_version

if TYPE_CHECKING:
    from conftest import Pushed

pytestmark = pytest.mark.slow
FIRST, SECOND = "HEAD~1", "HEAD"


def own_objects(lab: Lab, revision: str, other: str) -> set[str]:
    """Digests that one version needs and the other does not."""
    return needed(lab, revision) - needed(lab, other)


def needed(lab: Lab, revision: str) -> set[str]:
    return {item.digest for item in plan_rollback(lab.root, revision).needed}


def is_at(lab: Lab, seed: int) -> bool:
    state = {name: content.decode() for name, content in lab.state().items()}
    return (
        state["params.yaml"] == f"world: {{seed: {seed}}}\n"
        and state["data/web/page"] == f"page {seed}"
        and state["data/web/sub/picture"] == f"picture {seed}"
        and state["data/facts.json"] == state["reports/data/world.json"] == f'{{"seed": {seed}}}'
        and state["notes.txt"] == f"notes {seed}"
    )


def test_back_and_forth_ends_with_the_same_bytes(lab: Lab) -> None:
    second = lab.state()
    plan = roll_back(lab.paths, FIRST)
    assert is_at(lab, 1)
    assert list(plan.switched)[-1] == "dvc.lock"
    assert lab.dvc("status", "--json").strip() == "{}"
    roll_back(lab.paths, SECOND)
    assert lab.state() == second
    assert lab.git("status", "--porcelain") == ""


def test_what_the_cache_lacks_comes_from_the_remote(pushed: "Pushed") -> None:
    pushed.lab.forget()
    plan = roll_back(pushed.lab.paths, FIRST)
    assert is_at(pushed.lab, 1)
    assert {item.digest for item in plan.fetched} == pushed.lab.objects() == needed(pushed.lab, FIRST)


def test_a_folder_is_a_remote_too(lab: Lab, tmp_path: Path) -> None:
    lab.dvc("remote", "add", "--default", "storage", str(tmp_path / "remote"))
    lab.push()
    lab.forget()
    roll_back(lab.paths, FIRST)
    assert is_at(lab, 1)


def test_objects_gone_from_cache_and_remote_change_nothing(pushed: "Pushed") -> None:
    lab, s3 = pushed
    gone = own_objects(lab, FIRST, SECOND)
    [page] = [item for item in plan_rollback(lab.root, FIRST).needed if item.path == "data/web/page"]
    for removed in ({page.digest}, gone):
        lab.forget(*(removed & lab.objects()))
        s3.remove(*removed)
        before, objects = lab.state(), lab.objects()
        with pytest.raises(ObjectsMissing, match="to be had neither here nor in remote `storage`") as caught:
            roll_back(lab.paths, FIRST)
        assert caught.value.exit_code == 3
        assert (lab.state(), lab.objects()) == (before, objects)
        assert {fault.what for fault in caught.value.faults} == {"missing"}
    roll_back(lab.paths, SECOND)


def test_a_missing_object_is_named_and_without_remote_the_cache_alone_counts(lab: Lab) -> None:
    [facts] = [item for item in plan_rollback(lab.root, FIRST).needed if item.path == "data/facts.json"]
    lab.forget(facts.digest)
    before = lab.state()
    done = lab.eviflow("data", "rollback", FIRST)
    assert done.returncode == 3
    assert done.stdout == f"missing here: data/facts.json ({facts.digest})\n"
    assert done.stderr.startswith("eviflow: 1 object of ")
    assert len(done.stderr.splitlines()) == 1
    assert lab.state() == before


def test_a_damaged_object_here_is_replaced_from_the_remote(pushed: "Pushed") -> None:
    lab = pushed.lab
    [page] = [item for item in plan_rollback(lab.root, FIRST).needed if item.path == "data/web/page"]
    damage(lab.cached(page.digest))
    plan = roll_back(lab.paths, FIRST)
    assert plan.fetched == [page]
    assert is_at(lab, 1)


def test_a_damaged_object_in_the_remote_changes_nothing(pushed: "Pushed") -> None:
    lab, s3 = pushed
    [page] = [item for item in plan_rollback(lab.root, FIRST).needed if item.path == "data/web/page"]
    lab.forget(page.digest)
    s3.damage(page.digest)
    before = lab.state()
    with pytest.raises(ObjectsMissing):
        roll_back(lab.paths, FIRST)
    assert lab.state() == before


def test_a_remote_that_does_not_answer_changes_nothing(lab: Lab) -> None:
    lab.dvc("remote", "add", "--default", "storage", "s3://data/nowhere")
    lab.dvc("remote", "modify", "storage", "endpointurl", "http://127.0.0.1:9")
    lab.dvc("remote", "modify", "--local", "storage", "access_key_id", "a")
    lab.dvc("remote", "modify", "--local", "storage", "secret_access_key", "b")
    lab.forget(*own_objects_here(lab))
    before = lab.state()
    with pytest.raises(EviflowError, match="bucket `data` does not answer"):
        roll_back(lab.paths, FIRST)
    assert lab.state() == before


def own_objects_here(lab: Lab) -> set[str]:
    """A file of the first version, looked up without asking the remote."""
    return {out.digest for out in read_version(lab.root, FIRST).outs if out.path == "data/facts.json"}


def test_a_dry_run_shows_everything_and_changes_nothing(pushed: "Pushed") -> None:
    lab = pushed.lab
    lab.forget()
    before, status = lab.state(), lab.git("status", "--porcelain", "--ignored")
    done = lab.eviflow("data", "rollback", FIRST, "--dry-run")
    assert done.returncode == 0, done.stderr
    for part in (
        "all 6 objects are to be had, 6 of them from the remote",
        "would be switched: dvc.lock",
        "would be switched: params.yaml",
        "would be switched: notes.txt.dvc",
        "would be restored: data/web/page",
    ):
        assert part in done.stdout
    assert "data/web/same" not in done.stdout
    assert (lab.state(), lab.objects(), lab.git("status", "--porcelain", "--ignored")) == (before, set(), status)


@pytest.mark.parametrize("wreck", ["settings only", "everything but the data", "half of the data"])
def test_a_rollback_that_was_cut_off_is_finished_by_the_next(lab: Lab, wreck: str) -> None:
    version = read_version(lab.root, FIRST)
    switched = ["params.yaml"] if wreck == "settings only" else ["params.yaml", "notes.txt.dvc", "dvc.lock"]
    for name in switched:
        (lab.root / name).write_bytes(version.files[name])
    if wreck == "half of the data":
        (lab.root / "data/web/page").unlink()
        (lab.root / "data/facts.json").write_text('{"seed": 1}')
        half = lab.root / "data/web/.abcdefghijklmnop_-4567.tmp"
        half.write_text("pag")
    roll_back(lab.paths, FIRST)
    assert is_at(lab, 1)
    assert not list(lab.root.glob("data/web/.*"))


def test_a_killed_rollback_is_finished_by_the_next(pushed: "Pushed") -> None:
    lab = pushed.lab
    lab.forget()
    argv = [sys.executable, "-m", "components.cli", "data", "rollback", FIRST]
    process = subprocess.Popen(argv, cwd=lab.root, env=environment(), stdout=subprocess.DEVNULL)
    while b"seed: 1" not in (lab.root / "params.yaml").read_bytes():
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    roll_back(lab.paths, FIRST)
    assert is_at(lab, 1)
    roll_back(lab.paths, SECOND)
    assert is_at(lab, 2)


@pytest.mark.parametrize("name", ["params.yaml", "dvc.lock"])
def test_changes_that_no_commit_holds_refuse_it(lab: Lab, name: str) -> None:
    with (lab.root / name).open("a") as file:
        file.write("# mine\n")
    before = lab.state()
    with pytest.raises(PreflightError, match=f"`{name}` has changes that no commit holds"):
        roll_back(lab.paths, FIRST)
    assert lab.state() == before


def test_data_that_only_the_checkout_has_refuse_it(lab: Lab) -> None:
    (lab.root / "data/web/page").write_text("drawn by hand")
    before = lab.state()
    with pytest.raises(PreflightError, match="`data/web/page` has content that no version holds"):
        roll_back(lab.paths, FIRST)
    assert lab.state() == before


def test_a_version_that_dvc_yaml_here_does_not_fit_is_refused(lab: Lab) -> None:
    pipeline = lab.root / "dvc.yaml"
    pipeline.write_text(pipeline.read_text().replace("      - data/facts.json\n", ""))
    with pytest.raises(PreflightError, match=r"has `data/facts.json`, which dvc\.yaml here does not name"):
        roll_back(lab.paths, FIRST)


def test_what_a_version_did_not_have_yet_goes_and_comes_back(lab: Lab) -> None:
    (lab.root / "more.txt").write_text("more")
    lab.dvc("add", "--quiet", "more.txt")
    stage = "  extra:\n    cmd: mkdir -p data/extra && echo more > data/extra/file\n    outs: [data/extra]\n"
    with (lab.root / "dvc.yaml").open("a") as file:
        file.write(stage)
    lab.make(3)
    third, page = lab.state(), (lab.root / "more.txt").read_bytes()
    plan = roll_back(lab.paths, "HEAD~2")
    assert plan.removed == ["data/extra/file", "more.txt"]
    assert is_at(lab, 1)
    assert not any((lab.root / name).exists() for name in ("more.txt", "more.txt.dvc", "data/extra/file"))
    roll_back(lab.paths, "HEAD")
    assert (lab.state(), (lab.root / "more.txt").read_bytes()) == (third, page)
    assert lab.git("status", "--porcelain") == ""


def test_a_held_checkout_is_left_alone(lab: Lab) -> None:
    argv = [sys.executable, "-m", "components.cli", "data", "rollback", FIRST]
    with hold_checkout(lab.paths.work, "eviflow run"):
        done = subprocess.run(argv, cwd=lab.root, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "is held by `eviflow run`" in done.stderr


def test_a_revision_that_is_none_or_has_no_data_is_wrong_usage(lab: Lab) -> None:
    empty = lab.git("commit-tree", "-m", "empty", lab.git("hash-object", "-t", "tree", "-w", "/dev/null"))
    for revision, said in (("nope", "`nope` is no commit"), ("--all", "is no commit"), (empty, "has no dvc.lock")):
        with pytest.raises(UsageError, match=said):
            plan_rollback(lab.root, revision)
    done = lab.eviflow("data", "rollback", "nope")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)


def damage(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(b"something else")


def test_keys_are_never_printed(pushed: "Pushed") -> None:
    lab = pushed.lab
    lab.dvc("remote", "modify", "--local", "storage", "secret_access_key", "a-wrong-secret")
    done = lab.eviflow("data", "verify")
    assert done.returncode == 1
    assert "does not answer" in done.stderr
    assert "a-wrong-secret" not in done.stderr + done.stdout
